// The response handlers of downloads.

public import Dispatch
public import Foundation
import LupineURLSession

extension DownloadRequest {
  /// Adds a handler that receives the response, without a serialized file, after the request has completed. The handler is called
  /// on the main queue by default.
  @discardableResult
  public func response(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DefaultDownloadResponse) -> Void
  ) -> Self {
    addHandler { [self] in
      let files = downloadDelegate.files
      let response = DefaultDownloadResponse(
        request: request, response: self.response, temporaryURL: files.temporaryURL,
        destinationURL: files.destinationURL, resumeData: files.resumeData, error: taskDelegate.error,
        timeline: timeline, metrics: taskDelegate.metrics)
      (queue ?? .main).perform { completionHandler(response) }
    }
    return self
  }

  /// Adds a handler that receives the response, with the file serialized by `responseSerializer`, after the request has completed.
  /// The handler is called on the main queue by default.
  @discardableResult
  public func response<Serializer: DownloadResponseSerializerProtocol>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping (DownloadResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    addHandler { [self] in
      let result = responseSerializer.serializeResponse(
        request, self.response, downloadDelegate.fileURL, taskDelegate.error)
      let files = downloadDelegate.files
      var response = DownloadResponse(
        request: request, response: self.response, temporaryURL: files.temporaryURL,
        destinationURL: files.destinationURL, resumeData: files.resumeData, result: result, timeline: timeline)
      response.metrics = taskDelegate.metrics
      (queue ?? .main).perform { completionHandler(response) }
    }
    return self
  }

  /// Returns a serializer that returns the content of the downloaded file as `Data`.
  public static func dataResponseSerializer() -> DownloadResponseSerializer<Data> {
    serializer { Request.serializeResponseData(response: $0, data: $1, error: nil) }
  }

  /// Adds a handler that receives the content of the downloaded file as `Data` after the request has completed. The handler is
  /// called on the main queue by default.
  @discardableResult
  public func responseData(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DownloadResponse<Data>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DownloadRequest.dataResponseSerializer(), completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the downloaded file as text, by default in the response's charset.
  public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> DownloadResponseSerializer<String> {
    serializer { Request.serializeResponseString(encoding: encoding, response: $0, data: $1, error: nil) }
  }

  /// Adds a handler that receives the downloaded file as text after the request has completed. The handler is called on the main
  /// queue by default.
  @discardableResult
  public func responseString(
    queue: DispatchQueue? = nil, encoding: String.Encoding? = nil,
    completionHandler: @escaping (DownloadResponse<String>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DownloadRequest.stringResponseSerializer(encoding: encoding),
      completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the downloaded file as untyped JSON.
  public static func jsonResponseSerializer(
    options: JSONSerialization.ReadingOptions = .allowFragments
  ) -> DownloadResponseSerializer<Any> {
    serializer { Request.serializeResponseJSON(options: options, response: $0, data: $1, error: nil) }
  }

  /// Adds a handler that receives the downloaded file as untyped JSON after the request has completed. The handler is called on the
  /// main queue by default.
  @discardableResult
  public func responseJSON(
    queue: DispatchQueue? = nil, options: JSONSerialization.ReadingOptions = .allowFragments,
    completionHandler: @escaping (DownloadResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DownloadRequest.jsonResponseSerializer(options: options),
      completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the downloaded file as a property list.
  public static func propertyListResponseSerializer(
    options: PropertyListSerialization.ReadOptions = []
  ) -> DownloadResponseSerializer<Any> {
    serializer { Request.serializeResponsePropertyList(options: options, response: $0, data: $1, error: nil) }
  }

  /// Adds a handler that receives the downloaded file as a property list after the request has completed. The handler is called on
  /// the main queue by default.
  @discardableResult
  public func responsePropertyList(
    queue: DispatchQueue? = nil, options: PropertyListSerialization.ReadOptions = [],
    completionHandler: @escaping (DownloadResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DownloadRequest.propertyListResponseSerializer(options: options),
      completionHandler: completionHandler)
  }

  /// Returns a serializer that passes the content of the downloaded file to `serialize`. If the request has failed, the serializer
  /// returns the request's error.
  private static func serializer<Value>(
    _ serialize: @escaping (HTTPURLResponse?, Data?) -> Result<Value>
  ) -> DownloadResponseSerializer<Value> {
    DownloadResponseSerializer { _, response, file, error in
      if let error { return .failure(error) }
      // The value of a response without a body is empty, regardless of the file.
      if let response, Request.emptyStatusCodes.contains(response.statusCode) { return serialize(response, nil) }
      guard let file else { return .failure(AFError.responseSerializationFailed(reason: .inputFileNil)) }
      guard let data = try? Data(contentsOf: file) else {
        return .failure(AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: file)))
      }
      return serialize(response, data)
    }
  }
}
