// EngineClient+Cookies: adds cookies to each request of a transfer, and stores those of each response.

import Foundation
import LupineCookies
import LupineEngine

extension EngineClient {
  /// Adds the session's stored cookies for the request's URL to the request.
  ///
  /// Called for each request of a task, including those that follow a redirect. Such a request doesn't have the cookies of the
  /// previous request, so it gets only the cookies for its own URL.
  func addCookies(to request: inout EngineRequest) {
    guard
      let field = settings.cookieField(
        for: CookieSource(request.uri), at: request.uri.foundationURL, joining: request.fields.valueBytes("Cookie"))
    else { return }
    // The cookies are sent in a single field, regardless of their number (RFC 6265bis §5.8.1).
    Self.replaceCookies(in: &request.fields, by: field)
  }

  // A function, because each access to the fields of a request has a price.
  private static func replaceCookies(in fields: inout Fields, by value: [UInt8]) {
    fields.remove("Cookie")
    fields.append(name: "Cookie", valueBytes: value)
  }

  /// Returns whether the response sets cookies and the session stores them.
  func wantsCookies(of head: ResponseHead) -> Bool {
    settings.cookieStorage != nil && head.fields.setCookies
  }

  /// Stores the cookies that the response sets. Passes each Set-Cookie line to the storage separately, because these lines can't be
  /// joined like those of other fields.
  func storeCookies(of head: ResponseHead, from uri: URI, mainDocument: URL?) {
    guard let storage = settings.cookieStorage, let source = CookieSource(uri),
      settings.cookieAcceptPolicy.accepts(source, mainDocument: mainDocument)
    else { return }
    let lines = head.fields.indices.filter { head.fields.isNamed("set-cookie", at: $0) }
    storage.store(
      lines.map(head.fields.valueBytes(at:)), from: source, at: uri.foundationURL, mainDocument: mainDocument)
  }
}

extension URI {
  /// The URI as a Foundation URL, without user information. Nil if Foundation can't parse it.
  fileprivate var foundationURL: URL? { URL(string: description) }
}

extension URLSessionConfiguration.Snapshot {
  /// Returns the value of the Cookie field to send: `own`, which is the field that the request already has, followed by the stored
  /// cookies for the URL. Returns nil if no cookie is stored for the URL.
  func cookieField(
    for source: @autoclosure () -> CookieSource?, at url: @autoclosure () -> URL?,
    joining own: @autoclosure () -> [UInt8]?
  ) -> [UInt8]? {
    guard setsCookies, let cookieStorage, !cookieStorage.isEmpty, let source = source() else { return nil }
    return cookieStorage.field(for: source, at: url(), joining: own())
  }
}

extension URLSessionConfiguration {
  /// Returns the value of the Cookie field that a session would send with the request. Returns nil if no stored cookie would be
  /// added to the cookies that the request or the configuration sets.
  package func cookieField(for request: URLRequest) -> String? {
    guard request.httpShouldHandleCookies, let url = request.url else { return nil }
    let own = request.fields.valueBytes("Cookie") ?? snapshot.additionalFields?.valueBytes("Cookie")
    return snapshot.cookieField(for: CookieSource(url), at: url, joining: own).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
