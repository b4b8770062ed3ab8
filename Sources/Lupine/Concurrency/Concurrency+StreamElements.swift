// StreamElements: the events or lines of a stream request's body as throwing asynchronous sequences.

public import Foundation
public import LupineEngine

/// The elements of a stream request's body, such as events or lines, for `for try await`.
///
/// The iteration throws the request's error, or the error of an element that couldn't be decoded. It throws
/// `AFError.explicitlyCancelled` if the request or the iterating Swift task is cancelled.
public struct StreamElements<Element: Sendable>: AsyncSequence, Sendable {
  /// The error that the iteration throws.
  public typealias Failure = AFError
  /// The policy that determines which unread elements are buffered. All other unread elements are dropped.
  public typealias BufferingPolicy = StreamOf<DataStreamRequest.Stream<Element?, AFError>>.BufferingPolicy

  // Nil is the end of the stream before the end of the response.
  let streams: StreamOf<DataStreamRequest.Stream<Element?, AFError>>

  /// Begins an iteration over the elements that arrive from now on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(streams: streams.makeAsyncIterator()) }

  /// An iterator over the elements of a stream request's body.
  public struct AsyncIterator: AsyncIteratorProtocol {
    // Nil at the end of the iteration. The request is then cancelled, unless it has ended.
    fileprivate var streams: StreamOf<DataStreamRequest.Stream<Element?, AFError>>.AsyncIterator?

    /// Returns the next element, or nil at the end of the stream. An iterator that has thrown an error returns nil afterward.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AFError) -> Element? {
      guard var streams = streams.take() else { return nil }
      switch await streams.next(isolation: actor)?.event {
      case .stream(.success(let element?)):
        self.streams = streams
        return element
      case .stream(.success(nil)): return nil
      case .stream(.failure(let error)): throw error
      case .complete(let completion):
        if let error = completion.error { throw error }
        return nil
      case nil: throw .explicitlyCancelled
      }
    }
  }
}

extension DataStreamTask {
  /// Returns a sequence of the events of the response body, which is an event stream.
  ///
  /// ```swift
  /// let task = AF.eventStreamRequest("https://example.org/events").streamTask()
  /// for try await event in task.streamingEvents() { print(event.type, event.data) }
  /// ```
  ///
  /// - Parameters:
  ///   - endMarker: The data of the event that ends the sequence, such as `[DONE]`. The sequence doesn't contain it. None by default.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingEvents(
    endingAt endMarker: String? = nil, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: StreamElements<ServerSentEvent>.BufferingPolicy = .unbounded
  ) -> StreamElements<ServerSentEvent> {
    elements(shouldAutomaticallyCancel, bufferingPolicy) { request in
      .events(of: request.events, endMarker: endMarker, { .success($0) }, atEnd: .some(nil))
    }
  }

  /// Returns a sequence of the values decoded from the data of the response body's events.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - endMarker: The data of the event that ends the sequence, such as `[DONE]`. It isn't decoded. None by default.
  ///   - decoder: Decodes the data of an event. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingEvents<T: Decodable & Sendable>(
    of type: T.Type, endingAt endMarker: String? = nil, using decoder: any DataDecoder = JSONDecoder(),
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: StreamElements<T>.BufferingPolicy = .unbounded
  ) -> StreamElements<T> {
    elements(shouldAutomaticallyCancel, bufferingPolicy) { request in
      .events(of: request.events, endMarker: endMarker, { $0.decoded(by: decoder).map { $0 as T? } }, atEnd: .some(nil))
    }
  }

  /// Returns a sequence of the response body's lines as UTF-8 text, without line endings and empty lines.
  ///
  /// Lines end as in `URLSession.AsyncBytes.lines`.
  ///
  /// - Parameters:
  ///   - bytesMax: The maximum length of a line in bytes, 16 MiB by default. A longer line fails the request.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingLines(
    upTo bytesMax: Int = EventStreamLimits().lineBytesMax,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: StreamElements<String>.BufferingPolicy = .unbounded
  ) -> StreamElements<String> {
    elements(shouldAutomaticallyCancel, bufferingPolicy) { _ in .textLines(bytesMax) { .success($0) } }
  }

  /// Returns a sequence of the values decoded from the response body's lines, which end with a line feed and an optional carriage return
  /// before it. Empty lines are skipped.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - bytesMax: The maximum length of a line in bytes, 16 MiB by default. A longer line fails the request.
  ///   - decoder: Decodes a line. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingJSONLines<T: Decodable & Sendable>(
    of type: T.Type = T.self, upTo bytesMax: Int = EventStreamLimits().lineBytesMax,
    using decoder: any DataDecoder = JSONDecoder(), automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: StreamElements<T>.BufferingPolicy = .unbounded
  ) -> StreamElements<T> {
    elements(shouldAutomaticallyCancel, bufferingPolicy) { _ in
      .lines(.lineFeed, bytesMax: bytesMax) { (decoder.decoded(from: $0) as Result<T, AFError>).map { $0 as T? } }
    }
  }

  private func elements<Element: Sendable>(
    _ shouldAutomaticallyCancel: Bool, _ bufferingPolicy: StreamElements<Element>.BufferingPolicy,
    reader: @escaping @Sendable (DataStreamRequest) -> StreamReader<Element?>
  ) -> StreamElements<Element> {
    StreamElements(
      streams: stream(shouldAutomaticallyCancel, bufferingPolicy) { receive in
        request.handleElements(reader(request), on: request.underlyingQueue, receive: receive)
      })
  }
}
