// ResponseBody: a response's body as an asynchronous sequence.

/// The body of a response as a sequence of nonempty pieces of any size.
///
/// The body can be iterated once, by one task at a time. If the body is released before it was read to its end, the exchange ends.
/// The connection then stays open if the rest of the body is short; otherwise it is closed.
public struct ResponseBody: AsyncSequence, Sendable {
  /// The error that the iteration throws if the body is incomplete.
  public typealias Failure = EngineError

  /// Abandons the response's channel when the last reference to this object is released, because the body can no longer be read.
  private final class Reader: Sendable {
    let channel: ResponseChannel
    init(_ channel: ResponseChannel) { self.channel = channel }
    deinit { channel.abandon() }
  }

  private let reader: Reader

  init(_ channel: ResponseChannel) {
    reader = Reader(channel)
  }

  var channel: ResponseChannel { reader.channel }

  /// An iterator over the pieces of a response body.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let body: ResponseBody

    /// Returns the next piece of the body, or nil after the last piece.
    ///
    /// Throws the error that made the body incomplete, or `.cancelled` if the task is cancelled.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(EngineError) -> [UInt8]? {
      try await body.reader.channel.next()
    }
  }

  /// Returns an iterator over the pieces of the body that haven't been read yet.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Reads the rest of the body. Throws `.bodyTooLarge` and ends the exchange if the rest exceeds `bytesMax` bytes.
  public nonisolated(nonsending) func collect(
    upTo bytesMax: Int = Engine.collectedBytesMax
  ) async throws(EngineError) -> [UInt8] {
    var body: [UInt8] = []
    while let piece = try await reader.channel.next() {
      guard body.count + piece.count <= bytesMax else {
        reader.channel.abandon()
        throw reader.channel.tooLarge(bytesMax)
      }
      if body.isEmpty { body = piece } else { body += piece }
    }
    return body
  }

  /// The fields of the trailer section, which is usually empty. Nil until the complete body has been received.
  public var trailers: Fields? { reader.channel.trailers }

  /// Returns the metrics of each request that was sent, in order, including the requests that were redirected.
  ///
  /// Waits until the exchange has ended, which occurs only after the body has been read. Cancelling the task ends the exchange.
  public nonisolated(nonsending) func metrics() async -> [ExchangeMetrics] { await reader.channel.finalMetrics() }
}
