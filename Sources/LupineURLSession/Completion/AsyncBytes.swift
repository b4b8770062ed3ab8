// AsyncBytes: a response's body as an asynchronous sequence.

public import Foundation

extension URLSession {
  /// Sends a request, and returns as soon as the response's head has been received. The body is a sequence of bytes.
  ///
  /// Bytes are read from the connection only as fast as the caller consumes them. Cancelling the awaiting task cancels the
  /// request. Discarding the sequence does so too.
  ///
  /// ```swift
  /// let url = URL(string: "https://example.com/events")!
  /// let (bytes, _) = try await URLSession.shared.bytes(for: URLRequest(url: url))
  /// for try await line in bytes.lines { print(line) }
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - delegate: The delegate of this request's task, which is notified of redirects, challenges, sent bytes and metrics.
  /// - Returns: The body and the response's head. A status code of 400 or above isn't an error.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting task was cancelled. The sequence throws the same errors.
  public func bytes(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    let cancellation = TaskCancellation()
    let task = dataTask(with: request)
    task.windowBytes = client.windowBytes
    let channel = ByteChannel()
    let head = AsyncOutcome<URLResponse>()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let feeder = ByteFeeder(channel) {
          head.set($0)
          continuation.resume()
        }
        task.makeOptions().setCollector(feeder, session: self)
        if let delegate { task.delegate = delegate }
        cancellation.start(task)
      }
    } onCancel: {
      cancellation.cancel()
    }
    return (AsyncBytes(source: AsyncBytes.Source(channel: channel, task: task)), try head.get())
  }

  /// Sends a request for a URL, and returns the response's head with the body as a sequence of bytes. See
  /// ``bytes(for:delegate:)``.
  public func bytes(
    from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) {
    try await bytes(for: URLRequest(url: url), delegate: delegate)
  }

  /// The bytes of a response's body, which can be iterated once.
  public struct AsyncBytes: AsyncSequence, Sendable {
    /// A byte.
    public typealias Element = UInt8

    /// Reads the body's parts from the task's channel. When the last copy of the sequence is released, the task is cancelled.
    final class Source: Sendable {
      let channel: ByteChannel
      let task: URLSessionDataTask

      init(channel: ByteChannel, task: URLSessionDataTask) {
        self.channel = channel
        self.task = task
      }

      deinit { task.cancel() }

      /// Returns the next part of the body, which isn't empty, or nil at the end of the body. Throws the task's error.
      func nextPart() async throws -> Data? {
        try await withTaskCancellationHandler {
          while case .part(let part) = try await channel.next() {
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

    /// The task that receives the bytes.
    public var task: URLSessionDataTask { source.task }

    /// Creates an iterator. If there are several iterators, each byte is returned by only one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// Iterates over the bytes.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let source: Source
      private var part = Data()
      private var index = 0
      private var isOver = false

      init(source: Source) { self.source = source }

      /// Returns the next byte, or nil at the end of the body. Throws a `URLError` if the request fails.
      public mutating func next() async throws -> UInt8? {
        if index == part.endIndex {
          guard !isOver, let next = try await source.nextPart() else {
            isOver = true
            return nil
          }
          (part, index) = (next, next.startIndex)
        }
        defer { index += 1 }
        return part[index]
      }
    }
  }
}
