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
  /// - Throws: The errors of `RedirectRule.next(after:to:count:)`.
  public func next(after head: ResponseHead, to request: EngineRequest) throws(EngineError) -> EngineRequest? {
    do {
      return try rule?.next(after: head, to: request, count: count)
    } catch {
      request.callObserver?.redirectFailed(error)
      throw error
    }
  }

  /// Counts a redirect. Returns the redirected request `next` with the time left as its total limit. `exchange` contains the
  /// metrics of the exchange that was redirected.
  public mutating func follow(_ next: consuming EngineRequest, after exchange: ExchangeMetrics) -> EngineRequest {
    count += 1
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
