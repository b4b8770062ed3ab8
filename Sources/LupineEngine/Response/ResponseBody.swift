// A response's body as an asynchronous sequence.

/// The body of a response, in pieces of whatever size they come in.
///
/// It can be iterated once, by one task at a time. Letting go of it before its end ends the exchange: the connection is
/// kept if little is left to read, and closed otherwise.
public struct ResponseBody: AsyncSequence, Sendable {
  /// A piece, never empty.
  public typealias Element = [UInt8]
  /// Why the body is not complete.
  public typealias Failure = EngineError

  /// Tells the channel when nobody can read any more.
  private final class Reader: Sendable {
    let channel: ResponseChannel
    init(_ channel: ResponseChannel) { self.channel = channel }
    deinit { channel.abandon() }
  }

  private let reader: Reader

  init(_ channel: ResponseChannel) {
    reader = Reader(channel)
  }

  /// Reads pieces one behind the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let body: ResponseBody

    /// The next piece, or nil at the end of a complete body.
    ///
    /// Throws why the body is incomplete, and `.cancelled` if the task is.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(EngineError) -> [UInt8]? {
      try await body.reader.channel.next()
    }
  }

  /// Starts to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Reads the rest of the body. Throws `.bodyTooLarge`, and ends the exchange, if it has more than `bytesMax` bytes.
  public func collect(upTo bytesMax: Int = Engine.collectedBytesMax) async throws(EngineError) -> [UInt8] {
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

  /// The trailer section, usually empty; nil before the end of a complete body.
  public var trailers: Fields? { reader.channel.trailers }

  /// One measurement for each request that was sent, in order, redirects included.
  ///
  /// Waits for the exchange to end, which it does not before the body is read; cancelling the task ends it.
  public func metrics() async -> [ExchangeMetrics] { await reader.channel.finalMetrics() }
}
