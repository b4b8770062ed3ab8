// CacheRequest: the parts of a request that the cache needs, the caller's policy, and the partitions of stored responses.

package import LupineWire

/// The cache policy that the caller has set for a request. It determines whether the cache or the origin answers the request.
package enum CachePolicy: Sendable, Hashable {
  /// Use the cache as RFC 9111 specifies.
  case automatic
  /// Send the request to the origin without conditions from the cache, and replace the stored response with the origin's response.
  case reload
  /// Use a stored response of any age. If there is none, send the request to the origin.
  case storedElseLoad
  /// Use a stored response of any age. If there is none, fail.
  case storedOnly
  /// Use a stored response only after the origin has confirmed it. A fresh response with the directive `immutable`, received
  /// over https, needs no confirmation (RFC 8246).
  case validate
}

/// The sessions to which a stored response may be served. Each stored response belongs to one partition.
package enum CachePartition: Sendable, Hashable {
  /// The response may be served to all sessions that share the cache, because it was requested without credentials and sets no
  /// cookie.
  case anonymous
  /// The response may be served only to the session with this name, because it was requested with credentials or sets a cookie.
  case session(String)
}

/// The parts of a request from which the cache decides how to answer it.
package struct CacheRequest: Sendable {
  /// Whether the request has content. The cache doesn't answer a GET with content: the content isn't part of the cache key, but
  /// some servers take it into account.
  package enum Content: Sendable, Hashable { case none, present }

  /// Whether the request has credentials other than the fields Authorization and Cookie.
  package enum OtherCredentials: Sendable, Hashable {
    case none
    /// The request has such credentials: the connection has a client certificate or was authenticated with NTLM or Negotiate, or
    /// the caller has declared one of the request's fields secret.
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
  /// Whether the cache isolates the request from other sessions, even if it has no credentials. Such a request uses only responses
  /// of the same session, and its response is stored only for this session. False by default.
  package var isIsolated = false
  /// Whether the request lacks the fields that sessions add to requests, such as Accept-Encoding, so that their values are unknown.
  /// Such a field then matches any value. False by default.
  package var lacksSessionFields = false
  /// The maximum size in bytes of a stored part that the owner completes by a request for the rest. 0, the default, if it completes
  /// none.
  package var completedBytesMax: UInt64 = 0

  package init(method: String = "GET", uri: URI, fields: Fields = Fields(), session: String = "") {
    self.method = method
    self.uri = uri
    self.fields = fields
    self.session = session
  }

  /// Returns the partition in which the cache stores a response to this request. `response` contains the response's fields.
  func partition(of response: Fields) -> CachePartition {
    let isPersonal =
      isIsolated || otherCredentials == .presented || fields.contains("Authorization") || fields.contains("Cookie")
      || response.contains("Set-Cookie")
    return isPersonal ? .session(session) : .anonymous
  }

  /// Returns whether the cache may serve a stored response in this partition for the request.
  func mayRead(_ partition: CachePartition) -> Bool {
    partition == .session(session) || (partition == .anonymous && !isIsolated)
  }

  /// The names in lowercase of the fields that sessions add to requests that lack them.
  private static let sessionFieldNames: Set<String> = ["accept", "accept-encoding", "accept-language", "user-agent"]

  /// Returns whether the field with this name in lowercase matches any value, because its value is unknown.
  func leavesOpen(_ name: String) -> Bool {
    lacksSessionFields && Self.sessionFieldNames.contains(name) && !fields.contains(name)
  }

  /// The names of the conditional request fields.
  private static let conditionNames = [
    "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
  ]

  /// Whether the caller has set conditional fields, such as If-None-Match, to validate the caller's own copy of a response.
  var hasOwnConditions: Bool { Self.conditionNames.contains(where: fields.contains) }

  /// Whether the caller has set other conditional fields than If-Range.
  var hasConditionsBesideIfRange: Bool { Self.conditionNames.contains { $0 != "If-Range" && fields.contains($0) } }

  /// A GET request for the same URI without the caller's conditions and range, whose response can replace a stored one.
  package var independent: CacheRequest {
    var independent = self
    independent.method = "GET"
    independent.completedBytesMax = 0
    for name in Self.conditionNames + ["Range"] { independent.fields.remove(name) }
    return independent
  }

  /// Returns whether the response with these fields says that it is the current representation of the request's URI, by one
  /// Content-Location with that URI. A later GET may then be answered with a response to POST (RFC 9110 §9.3.3).
  func isLocated(by fields: Fields) -> Bool {
    let references = fields.all("Content-Location")
    guard references.count == 1, let location = try? uri.resolving(references[0]) else { return false }
    return location.cacheKey == uri.cacheKey
  }

  /// Whether the cache can answer a request with this method and content. True for GET and HEAD without content.
  var isServable: Bool { (method == "GET" || method == "HEAD") && content == .none }
}
