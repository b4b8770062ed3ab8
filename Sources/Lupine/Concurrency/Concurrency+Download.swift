// `DownloadTask`: the asynchronous response of a download.

public import Foundation
import LupineEngine
import LupineURLSession

/// A running download. Swift tasks can await its response.
///
/// The response can be awaited any number of times, from any task, before or after the download has finished.
public struct DownloadTask<Value: Sendable>: Sendable {
  fileprivate let request: DownloadRequest
  fileprivate let awaited: Awaited<AFDownloadResponse<Value>>
  fileprivate let shouldAutomaticallyCancel: Bool

  /// The download's response. Reading this property suspends the caller until the download has finished.
  ///
  /// If the awaiting task is cancelled, the request is cancelled too, without resume data, and the response has the error
  /// `AFError.explicitlyCancelled`, unless the task was created with `automaticallyCancelling: false`.
  public nonisolated(nonsending) var response: DownloadResponse<Value, AFError> {
    get async { await awaited.value(onCancel: cancellation) }
  }

  /// The result of the download's response. Reading this property suspends the caller until the download has finished.
  public nonisolated(nonsending) var result: Result<Value, AFError> {
    get async { await awaited.value(onCancel: cancellation).result }
  }

  /// The value of the download's response. Reading this property suspends the caller until the download has finished.
  ///
  /// - Throws: The response's `AFError`.
  public nonisolated(nonsending) var value: Value {
    get async throws { try await awaited.value(onCancel: cancellation).result.get() }
  }

  private var cancellation: (@Sendable () -> Void)? { shouldAutomaticallyCancel ? request.cancellation : nil }

  /// Cancels the download without producing resume data.
  public func cancel() { request.cancel() }

  /// Resumes the download if it was suspended.
  public func resume() { request.resume() }

  /// Suspends the download until it is resumed. Does nothing if the download was cancelled or has finished.
  public func suspend() { request.suspend() }
}

extension DownloadRequest {
  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value is the content of the
  /// downloaded file as `Data`.
  ///
  /// - Parameters:
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  public func serializingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DownloadTask<Data> {
    serializingDownload(
      using: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value is decoded from the
  /// content of the downloaded file.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - decoder: Decodes the value. A `JSONDecoder` by default.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  public func serializingDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self,
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
  ) -> DownloadTask<Value> {
    serializingDownload(
      using: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value is the URL of the
  /// downloaded file.
  public func serializingDownloadedFileURL(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<URL> {
    serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value is the content of the
  /// downloaded file as text.
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
  ) -> DownloadTask<String> {
    serializingDownload(
      using: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value `serializer` creates from
  /// the downloaded file.
  ///
  /// - Parameters:
  ///   - serializer: Converts the content to the value. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  public func serializingDownload<Serializer: ResponseSerializer>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    task(for: serializer, shouldAutomaticallyCancel)
  }

  /// Resumes the request, unless its `shouldAutomaticallyResume` is false, and returns a task whose value `serializer` creates from
  /// the downloaded file.
  ///
  /// - Parameters:
  ///   - serializer: Converts the content to the value. Called on the request's serialization queue.
  ///   - shouldAutomaticallyCancel: Whether cancelling the awaiting task cancels the request. True by default.
  public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    task(for: serializer, shouldAutomaticallyCancel)
  }

  private func task<Serializer: DownloadResponseSerializerProtocol>(
    for serializer: Serializer, _ shouldAutomaticallyCancel: Bool
  ) -> DownloadTask<Serializer.SerializedObject> {
    let awaited = Awaited<AFDownloadResponse<Serializer.SerializedObject>>(root.resumptions)
    response(queue: underlyingQueue, responseSerializer: serializer) { awaited.fill($0) }
    return DownloadTask(request: self, awaited: awaited, shouldAutomaticallyCancel: shouldAutomaticallyCancel)
  }
}
