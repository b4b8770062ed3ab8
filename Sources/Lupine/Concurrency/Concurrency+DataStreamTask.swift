// `DataStreamTask`: the pieces of a stream request's body as asynchronous sequences.

public import Foundation

/// Delivers the response body of a stream request to `for await` loops, piece by piece. Each loop receives every piece that arrives
/// while the loop runs.
///
/// With the buffering policy `.unbounded`, no piece is dropped. Pieces that a loop hasn't read cause backpressure, so that at most
/// `EngineConfiguration.windowBytes` of the body are buffered. Other policies drop elements and don't cause backpressure. They
/// buffer at most the given number of elements, each of which has at most `windowBytes`.
public struct DataStreamTask: Sendable {
  /// An asynchronous sequence of the response body's pieces, each serialized to a `Success`, followed by the request's completion.
  public typealias Stream<Success, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

  let request: DataStreamRequest

  /// Returns a sequence of the response body's pieces as `Data`.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<Data, Never>.BufferingPolicy = .unbounded
  ) -> Stream<Data, Never> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) { request.handleData(on: request.underlyingQueue, receive: $0) }
  }

  /// Returns a sequence of the response body's pieces as UTF-8 text.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingStrings(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<String, Never>.BufferingPolicy = .unbounded
  ) -> Stream<String, Never> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) {
      request.handleStrings(on: request.underlyingQueue, receive: $0)
    }
  }

  /// Returns a sequence of the response body's pieces, each decoded from JSON as a `T`.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingDecodables<T: Decodable & Sendable>(
    _ type: T.Type = T.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<T, AFError>.BufferingPolicy = .unbounded
  ) -> Stream<T, AFError> {
    streamingResponses(
      serializedUsing: DecodableStreamSerializer<T>(), automaticallyCancelling: shouldAutomaticallyCancel,
      bufferingPolicy: bufferingPolicy)
  }

  /// Returns a sequence of the values that `serializer` creates from the response body's pieces.
  ///
  /// - Parameters:
  ///   - serializer: Serializes a piece. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether leaving the loop before the end cancels the request. True by default.
  ///   - bufferingPolicy: The policy that determines which unread elements are buffered. All by default.
  public func streamingResponses<Serializer: DataStreamSerializer>(
    serializedUsing serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy = .unbounded
  ) -> Stream<Serializer.SerializedObject, AFError> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) {
      request.handle(using: serializer, on: request.underlyingQueue, receive: $0)
    }
  }

  /// Returns a sequence of the stream's events. Whenever a loop over the sequence starts, calls `addHandler`, which adds a stream
  /// handler to the request. Adding a handler may resume the request.
  func stream<Success: Sendable, Failure>(
    _ shouldAutomaticallyCancel: Bool, _ bufferingPolicy: Stream<Success, Failure>.BufferingPolicy,
    addHandler: @escaping @Sendable (@escaping StreamHandler<Success, Failure>.Receive) -> Void
  ) -> Stream<Success, Failure> {
    // Unread elements occupy the receive window only if the policy is `.unbounded`. Other policies limit the buffer by dropping
    // elements when further elements arrive. If unread elements filled the window, no further elements could arrive.
    let isHolding = if case .unbounded = bufferingPolicy { true } else { false }
    return StreamOf(bufferingPolicy: bufferingPolicy) { [request] in
      // After the last element, cancelling has no effect, because the request has already ended.
      if shouldAutomaticallyCancel { request.cancel() }
    } build: { continuation in
      addHandler { stream, piece in
        continuation.yield(stream, holding: isHolding ? piece : nil)
        if case .complete = stream.event { continuation.finish() }
      }
    }
  }

  /// Cancels the stream request.
  public func cancel() { request.cancel() }

  /// Resumes the stream request if it was suspended.
  public func resume() { request.resume() }

  /// Suspends the stream request until it is resumed. Does nothing if the request was cancelled or has finished.
  public func suspend() { request.suspend() }
}

extension DataStreamRequest {
  /// Returns a ``DataStreamTask``, whose sequences deliver the response body in pieces. The request is resumed only when a loop
  /// over such a sequence starts.
  public func streamTask() -> DataStreamTask {
    DataStreamTask(request: self)
  }
}
