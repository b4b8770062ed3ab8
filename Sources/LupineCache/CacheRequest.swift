// CacheRequest: the parts of a request that the cache needs, with the caller's policy and the partition of its responses.

package import LupineWire

/// The caller's policy for the use of the cache.
package enum CachePolicy: Sendable, Hashable {
  /// Use the cache as RFC 9111 specifies.
  case automatic
  /// Send the request without conditions, and replace the stored response.
  case reload
  /// Use a stored response of any age, or send the request if there is none.
  case storedElseLoad
  /// Use a stored response of any age, or fail if there is none.
  case storedOnly
  /// Use a stored response only after the origin has confirmed it. A fresh response with the directive `immutable` needs no
  /// confirmation (RFC 8246 §2).
  case validate
}

/// The sessions to which a stored response can be served.
package enum CachePartition: Sendable, Hashable {
  /// All users of the cache: the response was requested without credentials and set no cookie.
  case anonymous
  /// Only the session with this name: the response was requested with credentials, or set a cookie.
  case session(String)
}

/// The parts of a request that the cache needs.
package struct CacheRequest: Sendable {
  /// Whether the request has content. The content isn't part of the key, although some
  /// servers answer a GET according to its content.
  package enum Content: Sendable, Hashable { case none, present }

  /// Credentials that aren't in the request's fields.
  package enum ConnectionCredentials: Sendable, Hashable {
    case none
    /// The connection has a client certificate, or was authenticated with NTLM or Negotiate.
    case presented
  }

  package var method: String
  package var uri: URI
  package var fields: Fields
  package var content = Content.none
  package var policy = CachePolicy.automatic
  /// The name of the session that sends the request.
  package var session: String
  package var connectionCredentials = ConnectionCredentials.none

  package init(method: String = "GET", uri: URI, fields: Fields = Fields(), session: String = "") {
    self.method = method
    self.uri = uri
    self.fields = fields
    self.session = session
  }

  /// Returns the partition of a response to this request.
  func partition(of response: Fields) -> CachePartition {
    let isPersonal =
      connectionCredentials == .presented || fields.contains("Authorization") || fields.contains("Cookie")
      || response.contains("Set-Cookie")
    return isPersonal ? .session(session) : .anonymous
  }

  /// Returns whether a response of the partition can be served to this request.
  func mayRead(_ partition: CachePartition) -> Bool {
    partition == .anonymous || partition == .session(session)
  }

  /// Whether stored responses can be used for the method and content: for GET and HEAD without content.
  var isServable: Bool { (method == "GET" || method == "HEAD") && content == .none }
}
