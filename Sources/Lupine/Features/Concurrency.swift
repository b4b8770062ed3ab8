// Awaiting the response of a request.

public import Foundation
import LupineURLSession
import Synchronization

/// A data request that was started, and the response that it will have.
///
/// It may be awaited any number of times, from any task, before or after the response came.
public struct DataTask<Value: Sendable>: Sendable {
  // What is awaited stays where its caller is, and is specialized for the type that most ask for: a hop costs, and so do
  // generic functions, which look up their types at each step.

  private let request: DataRequest
  private let box: ResponseBox<DataResponse<Value, AFError>>
  private let shouldAutomaticallyCancel: Bool

  fileprivate init(
    request: DataRequest, box: ResponseBox<DataResponse<Value, AFError>>, shouldAutomaticallyCancel: Bool
  ) {
    self.request = request
    self.box = box
    self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
  }

  /// The response, once it has come.
  ///
  /// If the task that awaits it is cancelled, the request is cancelled too, unless the `DataTask` was made without
  /// `automaticallyCancelling`; the response then carries `AFError.explicitlyCancelled`.
  public nonisolated(nonsending) var response: DataResponse<Value, AFError> {
    @specialized(where Value == Data)
    get async { await box.value(cancelling: requestToCancel) }
  }

  /// The result of the response, once it has come.
  public nonisolated(nonsending) var result: Result<Value, AFError> {
    @specialized(where Value == Data)
    get async { await box.value(cancelling: requestToCancel).result }
  }

  /// The value of the response, once it has come.
  ///
  /// - Throws: the response's `AFError`.
  public nonisolated(nonsending) var value: Value {
    @specialized(where Value == Data)
    get async throws { try await box.value(cancelling: requestToCancel).result.get() }
  }

  /// The request, if it is to be cancelled along with the task that awaits it.
  private var requestToCancel: DataRequest? { shouldAutomaticallyCancel ? request : nil }

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

extension DataRequest {
  /// Starts the request and returns a task for its body.
  public func serializingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<Data> {
    serializingResponse(
      using: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor,
        emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Starts the request and returns a task for its body as a `Value`.
  public func serializingDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
  ) -> DataTask<Value> {
    serializingResponse(
      using: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor,
        decoder: decoder,
        emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Starts the request and returns a task for its body as text.
  public func serializingString(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<String> {
    serializingResponse(
      using: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor,
        encoding: encoding,
        emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Starts the request and returns a task for what `serializer` makes of its body; for `using: .string` and the like.
  public func serializingResponse<Serializer: ResponseSerializer>(
    using serializer: Serializer,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    dataTask(using: serializer, automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Starts the request and returns a task for what `serializer` makes of its body.
  public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
    using serializer: Serializer,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    dataTask(using: serializer, automaticallyCancelling: shouldAutomaticallyCancel)
  }

  private func dataTask<Serializer: DataResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool
  ) -> DataTask<Serializer.SerializedObject> {
    let box = ResponseBox<DataResponse<Serializer.SerializedObject, AFError>>()
    response(queue: underlyingQueue, responseSerializer: serializer) { box.fill($0) }
    return DataTask(request: self, box: box, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
  }
}

/// A value that is set once and awaited any number of times. Cheaper than a task per request: two locks, no job.
final class ResponseBox<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)
  private let gate = Gate()

  /// Sets the value and wakes everybody who waits for it.
  func fill(_ value: Value) {
    content.withLock { $0 = value }
    gate.open()
  }

  /// The value, once it is set; a task that is cancelled while it waits cancels the request, if there is one.
  nonisolated(nonsending) func value(cancelling request: Request?) async -> Value {
    await gate.pass(cancelling: request)
    guard let value = content.withLock({ $0 }) else { preconditionFailure("the gate is open, and nothing behind it") }
    return value
  }
}

/// What opens once, and is waited for by any number of tasks.
///
/// It knows nothing of the value behind it: generic code that waits costs a lookup of its types at each step.
private struct Gate: ~Copyable, Sendable {
  private struct State {
    var isOpen = false
    var waiting: ShortList<CheckedContinuation<Void, Never>> = []
  }

  private let state = Mutex(State())

  /// Lets everybody pass who waits, and whoever comes later.
  func open() {
    var waiting: ShortList<CheckedContinuation<Void, Never>> = []
    state.withLock { state in
      precondition(!state.isOpen, "a response handler ran twice")
      state.isOpen = true
      swap(&waiting, &state.waiting)
    }
    waiting.forEach { $0.resume() }
  }

  /// Returns once the gate is open; a task that is cancelled meanwhile cancels the request, if there is one.
  nonisolated(nonsending) func pass(cancelling request: Request?) async {
    guard !state.withLock({ $0.isOpen }) else { return }
    guard let request else { return await wait() }
    await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      request.cancel()
    }
  }

  private nonisolated(nonsending) func wait() async {
    await withCheckedContinuation { continuation in
      // Asked again under the lock, for it may have been opened in between.
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
