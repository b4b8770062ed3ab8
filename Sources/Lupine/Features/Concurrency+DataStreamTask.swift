// A stream request's pieces as asynchronous sequences.

public import Foundation

/// A stream request whose pieces are taken by loops. It may be iterated several times; each loop gets every piece that comes
/// while it runs.
///
/// Elements that wait for their loop hold the server back: although `.unbounded` keeps them all, no more than
/// `EngineConfiguration.windowBytes` of the body wait. Policies that drop elements don't hold it back; so many elements as
/// they keep are in memory at most, each of that many bytes at most.
public struct DataStreamTask: Sendable {
  /// Pieces of the body, serialised, then its end.
  public typealias Stream<Success, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

  private let request: DataStreamRequest

  fileprivate init(request: DataStreamRequest) {
    self.request = request
  }

  /// The body as it comes. Leaving the loop before the end cancels the request if `shouldAutomaticallyCancel`.
  public func streamingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<Data, Never>.BufferingPolicy = .unbounded
  ) -> Stream<Data, Never> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) { request.handleData(on: request.underlyingQueue, receive: $0) }
  }

  /// The body as text, read as UTF-8. Leaving the loop before the end cancels the request if `shouldAutomaticallyCancel`.
  public func streamingStrings(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<String, Never>.BufferingPolicy = .unbounded
  ) -> Stream<String, Never> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) {
      request.handleStrings(on: request.underlyingQueue, receive: $0)
    }
  }

  /// The body, each piece decoded from JSON as a `T`. Leaving the loop before the end cancels the request if
  /// `shouldAutomaticallyCancel`.
  public func streamingDecodables<T: Decodable & Sendable>(
    _ type: T.Type = T.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<T, AFError>.BufferingPolicy = .unbounded
  ) -> Stream<T, AFError> {
    streamingResponses(
      serializedUsing: DecodableStreamSerializer<T>(), automaticallyCancelling: shouldAutomaticallyCancel,
      bufferingPolicy: bufferingPolicy)
  }

  /// The body, each piece as `serializer` makes it. Leaving the loop before the end cancels the request if
  /// `shouldAutomaticallyCancel`.
  public func streamingResponses<Serializer: DataStreamSerializer>(
    serializedUsing serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy = .unbounded
  ) -> Stream<Serializer.SerializedObject, AFError> {
    stream(shouldAutomaticallyCancel, bufferingPolicy) {
      request.handle(using: serializer, on: request.underlyingQueue, receive: $0)
    }
  }

  /// A sequence whose iterations each add a handler to the request, which that may resume.
  private func stream<Success: Sendable, Failure>(
    _ shouldAutomaticallyCancel: Bool, _ bufferingPolicy: Stream<Success, Failure>.BufferingPolicy,
    addHandler: @escaping @Sendable (@escaping StreamHandler<Success, Failure>.Receive) -> Void
  ) -> Stream<Success, Failure> {
    // A policy that drops elements bounds what waits by itself, and only if more of them come.
    let isHolding = if case .unbounded = bufferingPolicy { true } else { false }
    return StreamOf(bufferingPolicy: bufferingPolicy) { [request] in
      // Without effect if the request has ended, which it has behind the last element.
      if shouldAutomaticallyCancel { request.cancel() }
    } build: { continuation in
      addHandler { stream, piece in
        continuation.yield(stream, holding: isHolding ? piece : nil)
        if case .complete = stream.event { continuation.finish() }
      }
    }
  }

  /// Cancels the request.
  public func cancel() {
    request.cancel()
  }

  /// Resumes the request if it was suspended.
  public func resume() {
    request.resume()
  }

  /// Suspends the request.
  public func suspend() {
    request.suspend()
  }
}

extension DataStreamRequest {
  /// A task whose loops take the body. Nothing is started before one of them is.
  public func streamTask() -> DataStreamTask {
    DataStreamTask(request: self)
  }
}
