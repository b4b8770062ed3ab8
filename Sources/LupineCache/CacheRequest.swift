// CacheRequest: a request as the cache sees it, with the caller's policy and the partition of its responses.

package import LupineWire

/// How the caller wants the cache to be used.
package enum CachePolicy: Sendable, Hashable {
  /// As RFC 9111 specifies.
  case automatic
  /// The request is sent without conditions; its response replaces the stored one.
  case reload
  /// A stored response of any age is used; if there is none, the request is sent.
  case storedElseLoad
  /// A stored response of any age is used; if there is none, the request fails.
  case storedOnly
  /// A stored response is used only after the origin has confirmed it. A fresh response that is `immutable` needs no
  /// confirmation (RFC 8246 §2).
  case validate
}

/// Who can be served a stored response.
package enum CachePartition: Sendable, Hashable {
  /// The response was requested without credentials and set no cookie: all users of the cache.
  case anonymous
  /// The response was requested with credentials, or set a cookie: only the session with this name.
  case session(String)
}

/// A request as the cache sees it.
package struct CacheRequest: Sendable {
  /// Whether the request has content. Some servers answer a GET according to its content, which isn't a part of the key.
  package enum Content: Sendable, Hashable { case none, present }

  /// Credentials that aren't in the request's fields.
  package enum ConnectionCredentials: Sendable, Hashable {
    case none
    /// A client certificate, or an authenticated connection (NTLM, Negotiate).
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

  /// The partition of a response to this request.
  func partition(of response: Fields) -> CachePartition {
    let isPersonal =
      connectionCredentials == .presented || fields.contains("Authorization") || fields.contains("Cookie")
      || response.contains("Set-Cookie")
    return isPersonal ? .session(session) : .anonymous
  }

  /// Whether a response of the partition can be served to this request.
  func mayRead(_ partition: CachePartition) -> Bool {
    partition == .anonymous || partition == .session(session)
  }

  /// Whether the method and the content allow stored responses to be used: GET and HEAD without content.
  var isServable: Bool { (method == "GET" || method == "HEAD") && content == .none }
}
