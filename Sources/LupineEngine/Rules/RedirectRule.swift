// What a 3xx response leads to (RFC 9110 §15.4). Pure: a request and a response in, the next request out.

/// Decides about redirects.
public struct RedirectRule: Sendable, Hashable {
  /// How many redirects are followed for one request; 20, as browsers do (Fetch standard, §4.4). curl follows 50.
  public var countMax = 20
  /// Whether a redirect from https to http is followed; false by default.
  public var allowsDowngrade = false

  /// Creates the default rule.
  public init() {}

  /// The request that a response redirects to, or nil if it is to be taken as it is.
  ///
  /// `count` is the number of redirects followed so far. Throws `.tooManyRedirects`, `.redirectRefused`, or
  /// `.malformedResponse` if the target can't be requested, or `.bodyNotReplayable`.
  public func next(
    after head: ResponseHead, to request: EngineRequest, count: Int
  ) throws(EngineError) -> EngineRequest? {
    guard [301, 302, 303, 307, 308].contains(head.status), let location = head.fields.first("Location") else {
      return nil
    }
    let origin = request.uri.origin
    guard count < countMax else {
      throw EngineError(
        .tooManyRedirects, .receive, origin, cause: .maximum(countMax), delivery: .responseBegan)
    }
    let uri: URI
    do {
      uri = try request.uri.resolving(location)
    } catch {
      throw EngineError(.malformedResponse, .receive, origin, cause: .uri(error), delivery: .responseBegan)
    }
    guard allowsDowngrade || origin.scheme == .http || uri.origin.scheme == .https else {
      throw EngineError(.redirectRefused, .receive, origin, delivery: .responseBegan)
    }
    var next = rewritten(request, after: head.status, staysAtOrigin: uri.origin == origin)
    next.uri = uri
    next.presentsIdentity = request.presentsIdentity && Self.keepsIdentity(from: origin, to: uri.origin)
    guard next.body.isReplayable else {
      throw EngineError(.bodyNotReplayable, .receive, origin, delivery: .responseBegan)
    }
    return next
  }

  /// What a redirect makes of a request, but for where it goes.
  ///
  /// A request that becomes GET loses its content, and what describes it. One that leaves its origin loses what is meant
  /// for that alone.
  public func rewritten(_ request: EngineRequest, after status: Int, staysAtOrigin: Bool) -> EngineRequest {
    var next = request
    if Self.becomesGet(status, request.method) {
      next.method = "GET"
      next.body = RequestBody()
      next.bodyCoding = nil
      for name in Self.contentFields { next.fields.remove(name) }
    }
    if !staysAtOrigin {
      // Another origin must not learn what was meant for this one. `next` is what later hops start from, so these
      // never come back.
      for name in Self.fieldsOfOrigin { next.fields.remove(name) }
    }
    return next
  }

  /// Whether the client certificate is presented after a redirect between these origins: it stays with its origin, and
  /// with the https of its host, to which servers redirect from http.
  public static func keepsIdentity(from origin: Origin, to next: Origin) -> Bool {
    next == origin
      || (origin.scheme == .http && next.scheme == .https && origin.socketPath == nil && next.socketPath == nil
        && origin.host == next.host)
  }

  /// Whether a field is meant for one origin alone; its name may be written in any case.
  public static func isBoundToOrigin(_ name: String) -> Bool {
    fieldsOfOrigin.contains { $0.lowercased() == name.lowercased() }
  }

  private static let fieldsOfOrigin = ["Authorization", "Cookie", "Proxy-Authorization", "Host"]

  /// What describes the content that is left out (RFC 9110 §15.4), and what asks for leave to send it (§10.1.1).
  private static let contentFields = [
    "Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Content-Length", "Digest",
    "Last-Modified", "Expect",
  ]

  // 303 asks for GET; for 301 and 302 POST becomes GET as browsers do it (9110 §15.4.2, §15.4.3).
  private static func becomesGet(_ status: Int, _ method: String) -> Bool {
    switch status {
    case 303: method != "GET" && method != "HEAD"
    case 301, 302: method == "POST"
    default: false
    }
  }
}
