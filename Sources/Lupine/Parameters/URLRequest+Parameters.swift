// URLRequest+Parameters: adds encoded parameters to a request, as its body or in its query.

import Foundation
import LupineURLSession

extension URLRequest {
  /// Returns the request with `body` as its body. Also sets `type` as its Content-Type, unless it has one.
  func carrying(_ body: Data, type: String) -> URLRequest {
    var request = self
    if request.value(forHTTPHeaderField: "Content-Type") == nil {
      request.setValue(type, forHTTPHeaderField: "Content-Type")
    }
    request.httpBody = body
    return request
  }
}

extension URL {
  /// Returns the absolute URL with `form` appended to its query. Throws `AFError.invalidURL` if the result isn't a URL.
  ///
  /// Edits the URL's text, because the setter of URLComponents traps on characters that a query can't contain.
  func appendingToQuery(_ form: String) throws -> URL {
    if form.isEmpty { return self }

    // URI = scheme ":" hier-part [ "?" query ] [ "#" fragment ] (RFC 3986 §3)
    let text = absoluteString
    let fragmentStart = text.firstIndex(of: "#") ?? text.endIndex
    var extended = String(text[..<fragmentStart])
    // A "?" inside the query belongs to it, so only the first one counts.
    let query = extended.firstIndex(of: "?").map { extended[$0...].dropFirst() }
    extended += query == nil ? "?" : query == "" ? "" : "&"
    extended += form + text[fragmentStart...]
    guard let url = URL(string: extended, encodingInvalidCharacters: false) else {
      throw AFError.invalidURL(url: extended)
    }
    return url
  }
}
