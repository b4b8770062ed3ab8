// Cookies of the exchanges of a transfer: added to each request afresh, taken from each response.

import Foundation
import LupineCookies
import LupineEngine

extension EngineClient {
  /// Adds the cookies for the request's URL, of the storage as it is now.
  ///
  /// They belong to this one exchange: what a redirect leads to starts from the request without them.
  func addCookies(to request: inout EngineRequest) {
    let (uri, fields) = (request.uri, request.fields)
    guard let field = settings.cookieField(for: CookieSource(uri), joining: fields.valueBytes("Cookie")) else { return }
    // One field, whatever their number (RFC 6265bis §5.8.1).
    request.fields.remove("Cookie")
    request.fields.append(name: "Cookie", valueBytes: field)
  }

  /// Whether the response sets cookies for which there is a place.
  func wantsCookies(of head: ResponseHead) -> Bool {
    settings.cookieStorage != nil && head.fields.contains("Set-Cookie")
  }

  /// Stores what the response sets, line by line: unlike those of other fields, the lines can't be joined.
  func storeCookies(of head: ResponseHead, from uri: URI, mainDocument: URL?) {
    guard let storage = settings.cookieStorage, let source = CookieSource(uri),
      settings.cookieAcceptPolicy.accepts(source, mainDocument: mainDocument)
    else { return }
    let lines = head.fields.indices.filter { head.fields.isNamed("set-cookie", at: $0) }
    storage.store(lines.map(head.fields.valueBytes(at:)), from: source, mainDocument: mainDocument)
  }
}

extension URLSessionConfiguration.Snapshot {
  /// The value of a request's Cookie field; nil if the storage adds nothing to `own`, the one that it has already.
  func cookieField(
    for source: @autoclosure () -> CookieSource?, joining own: @autoclosure () -> [UInt8]?
  ) -> [UInt8]? {
    guard setsCookies, let cookieStorage, !cookieStorage.isEmpty, let source = source() else { return nil }
    return cookieStorage.field(for: source, joining: own())
  }
}

extension URLSessionConfiguration {
  /// The value of the Cookie field that a request would be sent with; nil if the storage adds nothing to its own.
  package func cookieField(for request: URLRequest) -> String? {
    guard request.httpShouldHandleCookies, let url = request.url else { return nil }
    let own = request.fields.valueBytes("Cookie") ?? snapshot.additionalFields?.valueBytes("Cookie")
    return snapshot.cookieField(for: CookieSource(url), joining: own).map { String(decoding: $0, as: UTF8.self) }
  }
}
