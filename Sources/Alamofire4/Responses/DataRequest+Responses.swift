// The response handlers of data requests and uploads.

public import Dispatch
public import Foundation
import LupineURLSession

extension DataRequest {
  /// Adds a handler that receives the response, without a serialized body, after the request has completed. The handler is called
  /// on the main queue by default.
  @discardableResult
  public func response(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DefaultDataResponse) -> Void
  ) -> Self {
    addHandler { [self] in
      let response = DefaultDataResponse(
        request: request, response: self.response, data: taskDelegate.data, error: taskDelegate.error,
        timeline: timeline, metrics: taskDelegate.metrics)
      (queue ?? .main).perform { completionHandler(response) }
    }
    return self
  }

  /// Adds a handler that receives the response, with its body serialized by `responseSerializer`, after the request has completed.
  /// The handler is called on the main queue by default.
  @discardableResult
  public func response<Serializer: DataResponseSerializerProtocol>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping (DataResponse<Serializer.SerializedObject>) -> Void
  ) -> Self {
    addHandler { [self] in
      let data = taskDelegate.data
      let result = responseSerializer.serializeResponse(request, self.response, data, taskDelegate.error)
      var response = DataResponse(
        request: request, response: self.response, data: data, result: result, timeline: timeline)
      response.metrics = taskDelegate.metrics
      (queue ?? .main).perform { completionHandler(response) }
    }
    return self
  }

  /// Returns a serializer that returns the response body as `Data`.
  public static func dataResponseSerializer() -> DataResponseSerializer<Data> {
    DataResponseSerializer { Request.serializeResponseData(response: $1, data: $2, error: $3) }
  }

  /// Adds a handler that receives the response body as `Data` after the request has completed. The handler is called on the main
  /// queue by default.
  @discardableResult
  public func responseData(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DataResponse<Data>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DataRequest.dataResponseSerializer(), completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the response body as text, by default in the response's charset.
  public static func stringResponseSerializer(encoding: String.Encoding? = nil) -> DataResponseSerializer<String> {
    DataResponseSerializer { Request.serializeResponseString(encoding: encoding, response: $1, data: $2, error: $3) }
  }

  /// Adds a handler that receives the response body as text after the request has completed. The handler is called on the main
  /// queue by default.
  @discardableResult
  public func responseString(
    queue: DispatchQueue? = nil, encoding: String.Encoding? = nil,
    completionHandler: @escaping (DataResponse<String>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DataRequest.stringResponseSerializer(encoding: encoding),
      completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the response body as untyped JSON.
  public static func jsonResponseSerializer(
    options: JSONSerialization.ReadingOptions = .allowFragments
  ) -> DataResponseSerializer<Any> {
    DataResponseSerializer { Request.serializeResponseJSON(options: options, response: $1, data: $2, error: $3) }
  }

  /// Adds a handler that receives the response body as untyped JSON after the request has completed. The handler is called on the
  /// main queue by default.
  @discardableResult
  public func responseJSON(
    queue: DispatchQueue? = nil, options: JSONSerialization.ReadingOptions = .allowFragments,
    completionHandler: @escaping (DataResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DataRequest.jsonResponseSerializer(options: options),
      completionHandler: completionHandler)
  }

  /// Returns a serializer that reads the response body as a property list.
  public static func propertyListResponseSerializer(
    options: PropertyListSerialization.ReadOptions = []
  ) -> DataResponseSerializer<Any> {
    DataResponseSerializer {
      Request.serializeResponsePropertyList(options: options, response: $1, data: $2, error: $3)
    }
  }

  /// Adds a handler that receives the response body as a property list after the request has completed. The handler is called on
  /// the main queue by default.
  @discardableResult
  public func responsePropertyList(
    queue: DispatchQueue? = nil, options: PropertyListSerialization.ReadOptions = [],
    completionHandler: @escaping (DataResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue, responseSerializer: DataRequest.propertyListResponseSerializer(options: options),
      completionHandler: completionHandler)
  }
}
