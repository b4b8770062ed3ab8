// CacheRequest: the parts of a request that the cache needs, the caller's policy, and the partitions of stored responses.

package import LupineWire

/// The caller's policy, which determines how the cache answers a request.
package enum CachePolicy: Sendable, Hashable {
  /// Use the cache as RFC 9111 specifies.
  case automatic
  /// Send the request without conditions that the cache adds, and replace the stored response.
  case reload
  /// Use a stored response of any age, or send the request if there is none.
  case storedElseLoad
  /// Use a stored response of any age, or fail if there is none.
  case storedOnly
  /// Use a stored response only after the origin has confirmed it. A fresh response with the directive `immutable` needs no
  /// confirmation (RFC 8246 §2).
  case validate
}

/// The sessions to which a stored response may be served. Each stored response belongs to one partition.
package enum CachePartition: Sendable, Hashable {
  /// All sessions that share the cache, because the response was requested without credentials and sets no cookie.
  case anonymous
  /// Only the session with this name, because the response was requested with credentials or sets a cookie.
  case session(String)
}

/// The parts of a request from which the cache decides how to answer it.
package struct CacheRequest: Sendable {
  /// Whether the request has content. A GET with content isn't answered from the cache, because the content isn't part of the
  /// cache key, but some servers take it into account.
  package enum Content: Sendable, Hashable { case none, present }

  /// Credentials other than the fields Authorization and Cookie.
  package enum OtherCredentials: Sendable, Hashable {
    case none
    /// The connection has a client certificate or was authenticated with NTLM or Negotiate, or the request has a field that the
    /// caller has declared secret.
    case presented
  }

  package var method: String
  package var uri: URI
  package var fields: Fields
  package var content = Content.none
  package var policy = CachePolicy.automatic
  /// The name of the session that sends the request.
  package var session: String
  package var otherCredentials = OtherCredentials.none
  /// Whether the cache isolates the request from other sessions, even without credentials: only responses of its own session are
  /// used, and its response is stored only for this session. False by default.
  package var isIsolated = false

  package init(method: String = "GET", uri: URI, fields: Fields = Fields(), session: String = "") {
    self.method = method
    self.uri = uri
    self.fields = fields
    self.session = session
  }

  /// Returns the partition to which a response to this request belongs. `response` contains the response's fields.
  func partition(of response: Fields) -> CachePartition {
    let isPersonal =
      isIsolated || otherCredentials == .presented || fields.contains("Authorization") || fields.contains("Cookie")
      || response.contains("Set-Cookie")
    return isPersonal ? .session(session) : .anonymous
  }

  /// Returns whether a stored response in this partition may be served to the request.
  func mayRead(_ partition: CachePartition) -> Bool {
    partition == .session(session) || (partition == .anonymous && !isIsolated)
  }

  /// Whether stored responses can answer a request with this method and content. True for GET and HEAD without content.
  var isServable: Bool { (method == "GET" || method == "HEAD") && content == .none }
}
