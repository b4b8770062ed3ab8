// async/await on top of the callback form.

/// A response whose body is still coming.
public struct EngineResponse: Sendable {
  /// The URI that answered, which differs from the one asked for behind a redirect.
  public let uri: URI
  /// Status and fields.
  public let head: ResponseHead
  /// The body, as it comes; decoded if the request asks for it.
  public let body: ResponseBody
}

/// A complete response.
public struct CollectedResponse: Sendable {
  /// The URI that answered, which differs from the one asked for behind a redirect.
  public let uri: URI
  /// Status and fields.
  public let head: ResponseHead
  /// The whole body, decoded if the request asks for it.
  public let body: [UInt8]
  /// The trailer section, usually empty.
  public let trailers: Fields
  /// One measurement for each request that was sent, in order; more than one behind redirects.
  public let metrics: [ExchangeMetrics]
}

extension Engine {
  /// The largest body that is collected unless the caller says otherwise: 64 MiB.
  public static let collectedBytesMax = 64 * 1024 * 1024

  /// Executes a request and returns as soon as the response's head is there; follows redirects by `redirects`, or none
  /// if that is nil.
  ///
  /// Any status is a response, also 404 or 500. Cancelling the task ends the exchange with `.cancelled`. A slow consumer
  /// of the body holds the server back, with at most `EngineConfiguration.windowBytes` in memory.
  public func execute(
    _ request: EngineRequest, redirects: RedirectRule? = nil
  ) async throws(EngineError) -> EngineResponse {
    var request = request
    var metrics: [ExchangeMetrics] = []
    while true {
      let channel = ResponseChannel(
        request, redirects: redirects, earlier: metrics, windowBytes: configuration.windowBytes)
      let (head, next) = try await channel.begin(on: self)
      guard let next else {
        return EngineResponse(uri: request.uri, head: head, body: ResponseBody(channel))
      }
      metrics = await channel.finalMetrics()
      request = try next.get().spending(metrics)
    }
  }

  /// Executes a request and collects its response; follows redirects by `redirects`, or none if that is nil.
  ///
  /// One hand-over from the loop in place of one for each piece. A body larger than the request's `bodyBytesMax`, or
  /// than `collectedBytesMax` if none was set, is an error. Cancelling the task ends the exchange with `.cancelled`.
  public nonisolated(nonsending) func collect(
    _ request: consuming EngineRequest, redirects: RedirectRule? = nil
  ) async throws(EngineError) -> CollectedResponse {
    var request = request
    if request.bodyBytesMax == .max { request.bodyBytesMax = Self.collectedBytesMax }
    var metrics: [ExchangeMetrics] = []
    while true {
      let collector = ResponseCollector(
        on: shard(for: request.uri.origin),
        redirecting: redirects.map { .init(rule: $0, request: request, count: metrics.count) })
      let (result, measured) = await collector.run(request, by: self)
      metrics.append(measured)
      let response = try result.get()
      guard let next = response.next else {
        return CollectedResponse(
          uri: request.uri, head: response.head, body: response.body, trailers: response.trailers, metrics: metrics)
      }
      request = try next.get().spending(metrics)
    }
  }
}

extension EngineRequest {
  /// The request with what is left of its total time behind those that led to it.
  fileprivate func spending(_ earlier: [ExchangeMetrics]) -> EngineRequest {
    guard let total = timeouts.total, let last = earlier.last, let end = last.end else { return self }
    var request = self
    request.timeouts.total = max(.zero, total - (end - last.start))
    return request
  }
}
