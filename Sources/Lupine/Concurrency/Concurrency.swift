// `DataTask`: the asynchronous response of a data request.

public import Foundation
import LupineEngine
import LupineURLSession

/// A running data request. Swift tasks can await its response.
///
/// The response can be awaited any number of times, from any task, before or after it has arrived.
public struct DataTask<Value: Sendable>: Sendable {
  // The getters stay on the caller's executor, because each switch of executors takes time. They are specialized for `Data`, the
  // most frequent type, because generic async functions look up their types at each step.

  fileprivate let request: DataRequest
  fileprivate let awaited: Awaited<DataResponse<Value, AFError>>
  fileprivate let shouldAutomaticallyCancel: Bool

  /// The request's response. Reading this property suspends the caller until the request has finished.
  ///
  /// If the awaiting task is cancelled, the request is cancelled too, and the response has the error
  /// `AFError.explicitlyCancelled`, unless the `DataTask` was created with `automaticallyCancelling: false`.
  public nonisolated(nonsending) var response: DataResponse<Value, AFError> {
    @specialized(where Value == Data)
    get async { await awaited.value(onCancel: cancellation) }
  }

  /// The result of the request's response. Reading this property suspends the caller until the request has finished.
  public nonisolated(nonsending) var result: Result<Value, AFError> {
    @specialized(where Value == Data)
    get async { await awaitedResult() }
  }

  /// The value of the request's response. Reading this property suspends the caller until the request has finished.
  ///
  /// - Throws: The response's `AFError`.
  public nonisolated(nonsending) var value: Value {
    @specialized(where Value == Data)
    get async throws { try await awaitedValue() }
  }

  // Separate functions, because the getters would look up the types of these functions' results even before they choose their
  // specialized code.

  private nonisolated(nonsending) func awaitedResult() async -> Result<Value, AFError> {
    await awaited.wait(onCancel: cancellation)
    // Copies only the result out of the object.
    return awaited.content.value.result
  }

  private nonisolated(nonsending) func awaitedValue() async throws -> Value {
    try await awaitedResult().get()
  }

  private var cancellation: (@Sendable () -> Void)? { shouldAutomaticallyCancel ? request.cancellation : nil }

  /// Cancels the data request.
  public func cancel() { request.cancel() }

  /// Resumes the data request if it was suspended.
  public func resume() { request.resume() }

  /// Suspends the data request until it is resumed. Does nothing if the request was cancelled or has finished.
  public func suspend() { request.suspend() }
}

extension DataRequest {
  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a ``DataTask`` whose value is the response
  /// body as `Data`.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  ///   - dataPreprocessor: Transforms a body before it is returned.
  ///   - emptyResponseCodes: The status codes whose responses may have an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods whose responses may have an empty body. `HEAD` by default.
  /// - Returns: A task, whose `value`, `result` or `response` the caller awaits.
  public func serializingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<Data> {
    serializingResponse(
      using: DataResponseSerializer.shared(dataPreprocessor, emptyResponseCodes, emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a ``DataTask`` whose value is decoded from
  /// the response body.
  ///
  /// ```swift
  /// let profile = try await AF.request("https://example.org/profile")
  ///   .validate()
  ///   .serializingDecodable(Profile.self).value
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  ///   - dataPreprocessor: Transforms a body before it is decoded.
  ///   - decoder: Decodes the body. A `JSONDecoder` by default.
  ///   - emptyResponseCodes: The status codes whose responses may have an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods whose responses may have an empty body. `HEAD` by default.
  /// - Returns: A task, whose `value`, `result` or `response` the caller awaits.
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
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a ``DataTask`` whose value is the response
  /// body as text.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - encoding: The encoding of the text. By default, the response's charset, or ISO Latin-1 if the response names none.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  public func serializingString(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<String> {
    serializingResponse(
      using: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a ``DataTask`` whose value `serializer`,
  /// such as `.string`, creates from the response body.
  ///
  /// - Parameters:
  ///   - serializer: Converts the content to the value. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  public func serializingResponse<Serializer: ResponseSerializer>(
    using serializer: Serializer,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    dataTask(using: serializer, automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a ``DataTask`` whose value `serializer`
  /// creates from the response body.
  ///
  /// - Parameters:
  ///   - serializer: Converts the content to the value. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
    using serializer: Serializer,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    dataTask(using: serializer, automaticallyCancelling: shouldAutomaticallyCancel)
  }

  private func dataTask<Serializer: DataResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool
  ) -> DataTask<Serializer.SerializedObject> {
    let awaited = Awaited<DataResponse<Serializer.SerializedObject, AFError>>(root.resumptions)
    // The response is stored before it is delivered, so that the closure that delivers it holds only this object.
    append { [unowned self] in
      let response = serialize(with: serializer)
      let error = response.error
      // Moved, because passing it would copy it.
      awaited.store(consume response)
      return SerializedResponse(error: error) { replacement in
        if let replacement { awaited.store(awaited.content.value.failing(with: replacement)) }
        awaited.open()
      }
    }
    return DataTask(request: self, awaited: awaited, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
  }
}

extension Request {
  /// The reaction of a Swift task that awaits the response to its cancellation.
  var cancellation: @Sendable () -> Void { { _ = self.cancel() } }
}
