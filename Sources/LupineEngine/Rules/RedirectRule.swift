// RedirectRule: computes the request that follows from a redirect (RFC 9110 §15.4), without I/O.

/// The rule by which the engine follows redirects.
public struct RedirectRule: Sendable, Hashable {
  /// The maximum number of redirects that the engine follows for one request. 20 by default, as in browsers (Fetch standard, §4.4).
  /// curl follows 50.
  public var countMax = 20
  /// Whether the engine follows redirects from https to http. False by default.
  public var allowsDowngrade = false
  /// Whether the engine follows a redirect to a request that it has sent before, with the same method and URI. True by default,
  /// because servers redirect to the same URI after they have set a cookie. If false, such a redirect fails with
  /// `.tooManyRedirects`.
  public var allowsCycles = true
  /// Whether a POST stays a POST, with its body, after 301. False by default, as in browsers (RFC 9110 §15.4.2).
  public var keepsPostAfter301 = false
  /// Whether a POST stays a POST, with its body, after 302. False by default, as in browsers (RFC 9110 §15.4.3).
  public var keepsPostAfter302 = false
  /// Additional names of fields that a redirected request must not send to another origin, such as `X-Api-Key`. None by default.
  /// Names are case-insensitive.
  ///
  /// The fields `Authorization`, `Cookie`, `Cookie2`, `Host`, `Proxy-Authenticate`, `Proxy-Authorization` and `WWW-Authenticate`
  /// never need to be listed.
  public var secretFields: Set<String> = []

  /// Creates a rule with the default values.
  public init() {}

  /// Returns the request to which a response redirects, or nil if the response isn't a redirect.
  ///
  /// `count` is the number of redirects followed so far.
  ///
  /// - Throws: `.tooManyRedirects`; `.redirectRefused` for a downgrade to http; `.malformedResponse` if the target isn't a URI
  ///   that the engine can request; `.bodyNotReplayable` if the body can't be sent again.
  public func next(
    after head: ResponseHead, to request: EngineRequest, count: Int
  ) throws(EngineError) -> EngineRequest? {
    guard [301, 302, 303, 307, 308].contains(head.status), let location = Self.location(of: head) else { return nil }
    let origin = request.uri.origin
    guard count < countMax else {
      throw EngineError(
        .tooManyRedirects, .receive, origin, cause: .maximum(countMax), progress: .responseBegan)
    }
    let uri = try target(of: location, from: request.uri)
    var next = rewritten(request, after: head.status, staysAtOrigin: uri.origin == origin)
    next.uri = uri
    next.connectionDemand = nil
    next.urlTemplate = nil
    next.presentsIdentity = request.presentsIdentity && Self.keepsIdentity(from: origin, to: uri.origin)
    if uri.origin != origin { next.identityChoice = nil }
    guard next.body.isReplayable else {
      throw EngineError(.bodyNotReplayable, .receive, origin, progress: .responseBegan)
    }
    return next
  }

  /// Returns the URI to which a redirect of a request for `uri` leads. `reference` is the redirect's target, which may be relative
  /// to `uri`.
  ///
  /// - Throws: `.redirectRefused` for a downgrade to http; `.malformedResponse` if the target isn't a URI that the engine can
  ///   request, or is on another Unix socket.
  package func target(of reference: String, from uri: URI) throws(EngineError) -> URI {
    let origin = uri.origin
    let target: URI
    do {
      target = try uri.resolving(reference)
    } catch {
      throw EngineError(.malformedResponse, .receive, origin, cause: .uri(error), progress: .responseBegan)
    }
    guard allowsDowngrade || origin.scheme == .http || target.origin.scheme == .https else {
      throw EngineError(.redirectRefused, .receive, origin, progress: .responseBegan)
    }
    return target
  }

  /// Returns the value of the first Location field, or nil if there is none.
  ///
  /// If the value isn't UTF-8, each byte above 0x7F is percent-encoded, so that the server receives the same bytes in the next
  /// request. Servers send such values if their paths are in an older charset, such as ISO 8859-1.
  private static func location(of head: ResponseHead) -> String? {
    guard let bytes = head.fields.valueBytes("Location") else { return nil }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return PercentEncoding.encode(bytes, keeping: .ascii)
  }

  /// Returns `request` as a redirect with this status changes it, but still with the original URI.
  ///
  /// If the method becomes GET, the body and the fields that describe it are removed. If the origin changes, the fields meant only
  /// for the first origin are removed.
  public func rewritten(_ request: EngineRequest, after status: Int, staysAtOrigin: Bool) -> EngineRequest {
    var next = request
    if becomesGet(status, request.method) {
      next.method = "GET"
      next.body = RequestBody()
      next.bodyCoding = nil
      for name in Self.contentFields { next.fields.remove(name) }
    }
    if !staysAtOrigin {
      // Another origin must not receive these fields. A later redirect back to the first origin starts from `next`, so the
      // fields stay removed.
      for name in boundFields { next.fields.remove(name) }
    }
    return next
  }

  /// Returns whether a request that is redirected from `origin` to `next` still presents its client certificate. It does so only to
  /// the same origin, or to https on the same host, because servers commonly redirect from http to https.
  public static func keepsIdentity(from origin: Origin, to next: Origin) -> Bool {
    next == origin
      || (origin.scheme == .http && next.scheme == .https && origin.socketPath == nil && next.socketPath == nil
        && origin.host == next.host)
  }

  /// Returns whether a redirected request must not send this field to another origin. Ignores the case of the name.
  public func isBoundToOrigin(_ name: String) -> Bool {
    boundFields.contains { $0.lowercased() == name.lowercased() }
  }

  private var boundFields: [String] { Self.fieldsOfOrigin + secretFields }

  /// The names of the fields that Go's net/http removes when the origin changes (shouldCopyHeaderOnRedirect, Go 1.24), and Host.
  private static let fieldsOfOrigin = [
    "Authorization", "Cookie", "Cookie2", "Host", "Proxy-Authenticate", "Proxy-Authorization", "WWW-Authenticate",
  ]

  /// The names of the fields that are removed if a redirect drops the body: those that describe the body (RFC 9110 §15.4; for its
  /// hashes also RFC 9530 and RFC 1864), and Expect (§10.1.1).
  private static let contentFields = [
    "Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Content-Length", "Content-Digest",
    "Repr-Digest", "Digest", "Content-MD5", "Last-Modified", "Expect",
  ]

  // 303 changes the method to GET. 301 and 302 change only POST to GET, as browsers do (RFC 9110 §15.4.2, §15.4.3).
  private func becomesGet(_ status: Int, _ method: String) -> Bool {
    switch status {
    case 303: method != "GET" && method != "HEAD"
    case 301: method == "POST" && !keepsPostAfter301
    case 302: method == "POST" && !keepsPostAfter302
    default: false
    }
  }
}
