// Invalidation: the URIs whose stored responses a response to an unsafe request invalidates (RFC 9111 §4.4).

package import LupineWire

/// The rule that a successful unsafe request, such as a POST, invalidates the stored responses for its URI (RFC 9111 §4.4).
package enum Invalidation {
  /// Returns the URIs, without fragments, for which a response invalidates the stored responses of all sessions.
  ///
  /// These are the target URI, and the URIs in Location and Content-Location if they have the same origin. The result is empty if
  /// the method is known to be safe, or if the status is neither 2xx nor 3xx.
  package static func targets(of request: CacheRequest, status: Int, fields: Fields) -> [URI] {
    guard !isSafe(request.method), (200..<400).contains(status) else { return [] }
    let named = ["Location", "Content-Location"].flatMap { fields.all($0) }
      .compactMap { reference in try? request.uri.resolving(reference) }
      // Without this check, an origin could invalidate the stored responses of another origin.
      .filter { $0.origin == request.uri.origin }
    return named.reduce(into: [request.uri]) { targets, uri in
      if !targets.contains(where: { $0.target == uri.target }) { targets.append(uri) }
    }
  }

  /// Returns whether a response to a request with this method never invalidates a stored response.
  package static func isSafe(_ method: String) -> Bool { method == "GET" || safeMethods.contains(method) }

  /// The methods that IANA lists as safe (RFC 9110 §16.1.1), limited to those that clients use.
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]
}
