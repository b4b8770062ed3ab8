// Engine+Execute: the async functions that execute requests, built on `submit`.

/// A response whose body the engine is still receiving.
public struct EngineResponse: Sendable {
  /// The URI of the request that received this response. After redirects, it is the target of the last redirect.
  public let uri: URI
  /// The response head, with the status and the fields.
  public let head: ResponseHead
  /// The response body, delivered as it arrives, and decoded if the request's `decodesContent` is true.
  public let body: ResponseBody
}

/// A complete response with its body in memory.
public struct CollectedResponse: Sendable {
  /// The URI of the request that received this response. After redirects, it is the target of the last redirect.
  public let uri: URI
  /// The response head, with the status and the fields.
  public let head: ResponseHead
  /// The complete response body, decoded if the request's `decodesContent` is true.
  public let body: [UInt8]
  /// The fields of the trailer section, which is usually empty.
  public let trailers: Fields
  /// The metrics of each request that was sent, in order. There are several elements after redirects.
  public let metrics: [ExchangeMetrics]
}

extension Engine {
  /// The maximum size of a response body that `collect` accepts by default: 64 MiB.
  public static let collectedBytesMax = 64 * 1024 * 1024

  /// Executes a request and returns when the response head has arrived. Follows redirects by the rule `redirects`, or follows none
  /// if it is nil.
  ///
  /// A response with any status, including 404 and 500, is a success. Cancelling the task ends the exchange with `.cancelled`. If
  /// the caller reads the body slowly, at most `EngineConfiguration.windowBytes` are buffered in memory, and backpressure stops the
  /// server.
  public nonisolated(nonsending) func execute(
    _ request: EngineRequest, redirects: RedirectRule? = nil
  ) async throws(EngineError) -> EngineResponse {
    var request = request
    observe(&request)
    var chain = RedirectChain(redirects, total: request.timeouts.total)
    var metrics: [ExchangeMetrics] = []
    while true {
      let channel = ResponseChannel(
        request, chain, earlier: metrics, windowBytes: configuration.windowBytes)
      let (head, next) = try await channel.begin(on: self)
      guard let next else {
        return EngineResponse(uri: request.uri, head: head, body: ResponseBody(channel))
      }
      metrics = await channel.finalMetrics()
      request = chain.follow(try next.get(), from: request, after: metrics[metrics.endIndex - 1])
    }
  }

  /// Executes a request and collects the response in memory. Follows redirects by the rule `redirects`, or follows none if it is
  /// nil.
  ///
  /// The event loop passes the complete response to the caller's thread, instead of one piece at a time. The function fails with
  /// `.bodyTooLarge` if the body exceeds the request's `bodyBytesMax`, or `collectedBytesMax` if `bodyBytesMax` is unset.
  /// Cancelling the task ends the exchange with `.cancelled`.
  public nonisolated(nonsending) func collect(
    _ request: consuming EngineRequest, redirects: RedirectRule? = nil
  ) async throws(EngineError) -> CollectedResponse {
    var request = request
    observe(&request)
    if request.bodyBytesMax == .max { request.bodyBytesMax = Self.collectedBytesMax }
    var chain = RedirectChain(redirects, total: request.timeouts.total)
    var metrics: [ExchangeMetrics] = []
    while true {
      let collector = ResponseCollector(
        on: shard(for: request), redirecting: redirects == nil ? nil : .init(chain: chain, request: request))
      let (result, measured) = await collector.run(request, by: self)
      metrics.append(measured)
      let response = try result.get()
      guard let next = response.next else {
        return CollectedResponse(
          uri: request.uri, head: response.head, body: response.body, trailers: response.trailers, metrics: metrics)
      }
      request = chain.follow(try next.get(), from: request, after: measured)
    }
  }
}
