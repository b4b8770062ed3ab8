// URLRequest+Parameters: adds encoded parameters to a request, as its body or in its query.

package import Foundation
package import LupineURLSession

extension URLRequest {
  /// Returns the request with `body` as its body. Also sets `type` as the Content-Type, unless the request already has one.
  package func carrying(_ body: Data, type: String) -> URLRequest {
    var request = self
    if request.value(forHTTPHeaderField: "Content-Type") == nil {
      request.setValue(type, forHTTPHeaderField: "Content-Type")
    }
    request.httpBody = body
    return request
  }
}

extension URL {
  /// Returns this URL in absolute form, with `form` appended to its query. Throws `AFError.invalidURL` if the result isn't a URL.
  ///
  /// Edits the URL's text, because the setter of URLComponents traps on characters that a query can't contain.
  package func appendingToQuery(_ form: String) throws -> URL {
    if form.isEmpty { return self }

    // URI = scheme ":" hier-part [ "?" query ] [ "#" fragment ] (RFC 3986 §3)
    let text = absoluteString
    let fragmentStart = text.firstIndex(of: "#") ?? text.endIndex
    var extended = String(text[..<fragmentStart])
    // The first "?" begins the query. Any further "?" is part of the query.
    let query = extended.firstIndex(of: "?").map { extended[$0...].dropFirst() }
    extended += query == nil ? "?" : query == "" ? "" : "&"
    extended += form + text[fragmentStart...]
    guard let url = URL(string: extended, encodingInvalidCharacters: false) else {
      throw AFError.invalidURL(url: extended)
    }
    return url
  }
}
