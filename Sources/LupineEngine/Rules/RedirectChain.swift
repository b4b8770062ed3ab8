// RedirectChain: the redirects of one request, with their number and the time that is left for further exchanges.

/// The redirects that follow from one request: the rule by which they are followed, their number so far, and the time left.
///
/// `next(after:to:)` decides which request follows from a response. When the exchange has ended, `follow` or `resend` returns the
/// request to send, with the time left as its total limit.
public struct RedirectChain: Sendable {
  /// The rule by which redirects are followed, or nil if none are followed.
  public let rule: RedirectRule?
  /// The number of redirects followed so far for the request.
  public private(set) var count = 0
  /// The time left for further exchanges of the request, or nil if there is no limit.
  public private(set) var timeLeft: Duration?
  /// The requests that have been redirected, if the rule doesn't allow cycles. At most `RedirectRule.countMax`.
  private var redirected: [(method: String, uri: URI)] = []

  /// Creates the chain of a request that hasn't been sent. `total` is the time limit for all of its exchanges together, or nil for
  /// no limit.
  public init(_ rule: RedirectRule?, total: Duration?) {
    self.rule = rule
    timeLeft = total
  }

  /// Creates the chain of a request after `count` redirects, which were followed without this chain.
  package init(_ rule: RedirectRule?, total: Duration?, count: Int) {
    self.init(rule, total: total)
    self.count = count
  }

  /// Returns the request to which a response redirects, or nil if the response is final or there is no rule.
  ///
  /// - Throws: The errors of `RedirectRule.next(after:to:count:)`; `.tooManyRedirects` for a cycle that the rule doesn't allow.
  public func next(after head: ResponseHead, to request: EngineRequest) throws(EngineError) -> EngineRequest? {
    do {
      guard let rule, let next = try rule.next(after: head, to: request, count: count) else { return nil }
      if !rule.allowsCycles, closesCycle(next, after: request) {
        throw EngineError(.tooManyRedirects, .receive, request.uri.origin, progress: .responseBegan)
      }
      return next
    } catch {
      request.callObserver?.redirectFailed(error)
      throw error
    }
  }

  /// Whether `next` repeats the request that is being redirected, or an earlier one. Two requests are equal if the server sees the
  /// same method, origin and target.
  private func closesCycle(_ next: EngineRequest, after request: EngineRequest) -> Bool {
    func equals(_ method: String, _ uri: URI) -> Bool {
      method == next.method && uri.origin == next.uri.origin && uri.target == next.uri.target
    }
    return equals(request.method, request.uri) || redirected.contains { equals($0.method, $0.uri) }
  }

  /// Counts a redirect. Returns the redirected request `next` with the time left as its total limit. `exchange` contains the
  /// metrics of the exchange that was redirected, and `previous` its request, which is needed only to find cycles.
  public mutating func follow(
    _ next: consuming EngineRequest, from previous: EngineRequest? = nil, after exchange: ExchangeMetrics
  ) -> EngineRequest {
    count += 1
    if rule?.allowsCycles == false, let previous { redirected.append((previous.method, previous.uri)) }
    return resend(next, after: exchange)
  }

  /// Subtracts the duration of a pause between two exchanges from the time that is left.
  package mutating func spend(_ duration: Duration) {
    if let total = timeLeft { timeLeft = max(.zero, total - duration) }
  }

  /// Returns `next`, which replaces the previous request without a redirect, for example the same request with credentials. Its
  /// total limit is the time left.
  public mutating func resend(_ next: consuming EngineRequest, after exchange: ExchangeMetrics) -> EngineRequest {
    if let total = timeLeft, let end = exchange.end { timeLeft = max(.zero, total - (end - exchange.start)) }
    var next = next
    if next.timeouts.total != timeLeft { next.timeouts.total = timeLeft }
    return next
  }
}

extension RedirectChain {
  /// Returns the request to which a response redirects, or the error if the redirect can't be followed. Returns nil if the response
  /// is final or there is no rule.
  func outcome(of head: ResponseHead, to request: EngineRequest) -> Result<EngineRequest, EngineError>? {
    do throws(EngineError) {
      return try next(after: head, to: request).map { .success($0) }
    } catch {
      return .failure(error)
    }
  }
}
