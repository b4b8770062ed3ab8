// AsyncBytes: a response's body as an asynchronous sequence.

public import Foundation
import LupineEngine

extension URLSession {
  /// Sends a request, and returns as soon as the response's head has been received. Returns the body as a sequence of bytes, which
  /// the session receives while the caller iterates over the sequence.
  ///
  /// The session reads from the connection only as fast as the caller consumes the bytes. Canceling the awaiting Swift task
  /// cancels the request, and so does releasing the sequence.
  ///
  /// ```swift
  /// let url = URL(string: "https://example.com/events")!
  /// let (bytes, _) = try await URLSession.shared.bytes(for: URLRequest(url: url))
  /// for try await line in bytes.lines { print(line) }
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - delegate: The delegate of the session task for this request. It is notified of redirects, challenges, sent bytes and
  ///     metrics.
  /// - Returns: The body and the response's head. A status code of 400 or above doesn't throw an error.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting Swift task was canceled, or the error of a ``URLProtocol``. The
  ///   sequence throws the same errors.
  public func bytes(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    let task = dataTask(with: request)
    task.windowBytes = client.windowBytes
    let channel = ByteChannel()
    let head = Awaited<Result<URLResponse, any Error>>(delivery.resumptions)
    task.setCollector(ByteFeeder(channel) { head.fill($0) })
    assign(delegate, to: task)
    let response = try await head.value(of: task).get()
    return (AsyncBytes(source: AsyncBytes.Source(channel: channel, task: task)), response)
  }

  /// Sends a GET request for a URL, and returns the body as a sequence of bytes, with the response's head. See
  /// ``bytes(for:delegate:)``.
  public func bytes(
    from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    try await bytes(for: URLRequest(url: url), delegate: delegate)
  }

  /// The bytes of a response's body, as an asynchronous sequence. Iterate over it only once.
  public struct AsyncBytes: AsyncSequence, Sendable {
    /// The element of the sequence: a byte of the body.
    public typealias Element = UInt8

    /// Passes the parts of the body from the session task to the iterators. Cancels the session task when the last copy of the
    /// sequence has been released.
    final class Source: Sendable {
      let channel: ByteChannel
      let task: URLSessionDataTask

      init(channel: ByteChannel, task: URLSessionDataTask) {
        self.channel = channel
        self.task = task
      }

      deinit { task.cancel() }

      /// Returns the next part of the body, which has at least one byte, or nil at the end of the body. If the session task fails,
      /// throws the task's error.
      func nextPart() async throws -> Data? {
        try await withTaskCancellationHandler {
          while let part = try await channel.next() {
            task.extendWindow(by: part.count)
            if !part.isEmpty { return part }
          }
          return nil
        } onCancel: {
          task.cancel()
        }
      }
    }

    let source: Source

    /// The session task that receives the bytes.
    public var task: URLSessionDataTask { source.task }

    /// Creates an iterator over the bytes. If there are several iterators, each byte is returned by only one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// An iterator over the bytes of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let source: Source
      private var part = Data()
      private var index = 0
      private var isOver = false

      init(source: Source) { self.source = source }

      /// Returns the next byte, or nil at the end of the body. Throws a `URLError` if the request fails, and then returns nil.
      public mutating func next() async throws -> UInt8? {
        if index == part.endIndex {
          guard !isOver else { return nil }
          // Also stays true if `nextPart` throws an error: an iterator that has thrown returns nil afterward.
          isOver = true
          guard let next = try await source.nextPart() else { return nil }
          isOver = false
          (part, index) = (next, next.startIndex)
        }
        defer { index += 1 }
        return part[index]
      }
    }
  }
}
