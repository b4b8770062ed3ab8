// `WebSocketTask`: the messages and events of a WebSocket request as asynchronous sequences.

public import Foundation
public import LupineURLSession

/// Delivers the messages of a WebSocket request to `for await` loops, and sends messages. Each loop receives every message that
/// arrives while the loop runs.
///
/// With the buffering policy `.unbounded`, messages that a loop hasn't read are kept in memory without a limit. If the server may
/// send faster than the loop reads, use another policy, or the handlers of ``WebSocketRequest``, which cause backpressure.
public struct WebSocketTask: Sendable {
  /// An asynchronous sequence of the request's events.
  public typealias EventStreamOf<Success, Failure: Error> = StreamOf<WebSocketRequest.Event<Success, Failure>>

  fileprivate let request: WebSocketRequest

  /// Returns a sequence of the request's events, with the messages as received.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingMessageEvents(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: EventStreamOf<URLSessionWebSocketTask.Message, Never>.BufferingPolicy = .unbounded
  ) -> EventStreamOf<URLSessionWebSocketTask.Message, Never> {
    stream(shouldAutomaticallyCancel, bufferingPolicy, transform: { $0 }) {
      request.streamMessageEvents(on: request.underlyingQueue, handler: $0)
    }
  }

  /// Returns a sequence of the received messages.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingMessages(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: StreamOf<URLSessionWebSocketTask.Message>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLSessionWebSocketTask.Message> {
    stream(shouldAutomaticallyCancel, bufferingPolicy, transform: \.message) {
      request.streamMessageEvents(on: request.underlyingQueue, handler: $0)
    }
  }

  /// Returns a sequence of the request's events, with messages decoded as a `Value`.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - decoder: The decoder for the bytes of a message. A `JSONDecoder` by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingDecodableEvents<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    using decoder: any DataDecoder = JSONDecoder(),
    bufferingPolicy: EventStreamOf<Value, any Error>.BufferingPolicy = .unbounded
  ) -> EventStreamOf<Value, any Error> {
    stream(shouldAutomaticallyCancel, bufferingPolicy, transform: { $0 }) {
      request.streamDecodableEvents(type, on: request.underlyingQueue, using: decoder, handler: $0)
    }
  }

  /// Returns a sequence of the received messages, decoded as a `Value`. Messages that can't be decoded are skipped.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - decoder: The decoder for the bytes of a message. A `JSONDecoder` by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    using decoder: any DataDecoder = JSONDecoder(), bufferingPolicy: StreamOf<Value>.BufferingPolicy = .unbounded
  ) -> StreamOf<Value> {
    stream(shouldAutomaticallyCancel, bufferingPolicy, transform: \.message) {
      request.streamDecodableEvents(type, on: request.underlyingQueue, using: decoder, handler: $0)
    }
  }

  /// Returns a sequence of the values that `transform` makes from events. Whenever a loop over the sequence starts, calls
  /// `addHandler`, which adds a handler to the request. Adding a handler may resume the request.
  private func stream<Success: Sendable, Failure: Error, Element: Sendable>(
    _ shouldAutomaticallyCancel: Bool, _ bufferingPolicy: StreamOf<Element>.BufferingPolicy,
    transform: @escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Element?,
    addHandler: @escaping @Sendable (@escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Void) -> Void
  ) -> StreamOf<Element> {
    StreamOf(bufferingPolicy: bufferingPolicy) { [request] in
      // After the last element, cancelling has no effect, because the request has already ended.
      if shouldAutomaticallyCancel { request.cancel() }
    } build: { continuation in
      addHandler { event in
        if let element = transform(event) { continuation.yield(element) }
        if case .completed = event.kind { continuation.finish() }
      }
    }
  }

  /// Sends a message, and returns when it has been buffered. Throws an error if the connection or the request has ended before.
  ///
  /// Resumes the request, unless its `shouldAutomaticallyResume` is false. If no loop has started yet, the first one also receives the
  /// earlier events and messages. Until then, up to 256 KiB of messages are kept in memory; then the server must wait.
  public func send(_ message: URLSessionWebSocketTask.Message) async throws {
    request.resumeAwaitingHandler()
    try await withCheckedThrowingContinuation { continuation in
      request.send(message, queue: request.underlyingQueue) { continuation.resume(with: $0) }
    }
  }

  /// Closes the connection. See ``WebSocketRequest/close(sending:reason:)``.
  public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
    request.close(sending: closeCode, reason: reason)
  }

  /// Cancels the request, which ends the connection without a Close frame.
  public func cancel() { request.cancel() }

  /// Resumes the request if it was suspended.
  public func resume() { request.resume() }

  /// Suspends the request, so that no messages are received until it is resumed.
  public func suspend() { request.suspend() }
}

extension WebSocketRequest {
  /// Returns a ``WebSocketTask``, whose sequences deliver the received messages. The request is resumed when a loop over such a
  /// sequence starts, or when the task sends a message.
  public func webSocketTask() -> WebSocketTask { WebSocketTask(request: self) }
}
