// StandIn: the declarations of swift-openapi-runtime 1 that LupineTransport uses, for machines that can't download the package. It is
// only for Tests/Examples/openapi/run.

public import HTTPTypes

public import struct Foundation.URL

/// A client's way to send a request.
public protocol ClientTransport: Sendable {
  /// Sends a request.
  func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?)
}

/// A body as a sequence of chunks.
public final class HTTPBody: AsyncSequence, Sendable {
  /// A part of the body.
  public typealias ByteChunk = ArraySlice<UInt8>
  /// A part of the body.
  public typealias Element = ByteChunk

  /// Whether the body can be read more than once.
  public enum IterationBehavior: Sendable { case single, multiple }
  /// The length in bytes.
  public enum Length: Sendable {
    case unknown
    case known(Int64)
  }

  /// Whether the body can be read more than once.
  public let iterationBehavior: IterationBehavior
  /// The length in bytes.
  public let length: Length
  private let makeNext: @Sendable () -> () async throws -> ByteChunk?

  /// Creates a body from a sequence of chunks.
  public init<Bytes: AsyncSequence & Sendable>(
    _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
  ) where Bytes.Element == ByteChunk {
    self.iterationBehavior = iterationBehavior
    self.length = length
    makeNext = {
      var iterator = sequence.makeAsyncIterator()
      return { try await iterator.next() }
    }
  }

  /// Returns an iterator over the chunks.
  public func makeAsyncIterator() -> Iterator { Iterator(nextChunk: makeNext()) }

  /// An iterator over the chunks.
  public struct Iterator: AsyncIteratorProtocol {
    let nextChunk: () async throws -> ByteChunk?

    /// Returns the next chunk.
    public mutating func next() async throws -> ByteChunk? { try await nextChunk() }
  }
}
