// `JSONResponseSerializer`: reads untyped JSON, for programs written before `Decodable` existed.

public import Foundation
public import LupineURLSession

/// A serializer that reads the response body as untyped JSON: `NSNull`, `NSNumber`, `String`, and arrays and dictionaries of these.
/// An empty body becomes `NSNull` if the status code or the request method allows an empty body.
@available(*, deprecated, message: "Use DecodableResponseSerializer, which checks the body's structure.")
public final class JSONResponseSerializer: ResponseSerializer {
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, it changes
  /// nothing.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public let emptyResponseCodes: Set<Int>
  /// The request methods whose responses may have an empty body. HEAD by default.
  public let emptyRequestMethods: Set<HTTPMethod>
  /// The options for reading JSON. By default, the top level may be a single value (RFC 8259 §2).
  public let options: JSONSerialization.ReadingOptions

  /// Creates a serializer that reads untyped JSON.
  ///
  /// - Parameters:
  ///   - dataPreprocessor: Transforms the response body before it is serialized, unless the body is empty.
  ///   - emptyResponseCodes: The status codes whose responses may have an empty body. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods whose responses may have an empty body. `HEAD` by default.
  ///   - options: The options for reading JSON. By default, the top level may be a single value (RFC 8259 §2).
  public init(
    dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
    options: JSONSerialization.ReadingOptions = .allowFragments
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
    self.options = options
  }

  /// Parses the preprocessed response body as JSON, and returns the value.
  ///
  /// - Throws: `error` if it isn't nil; `.inputDataNilOrZeroLength` for a body that must not be empty; the preprocessor's error; or
  ///   `.jsonSerializationFailed` if the body isn't JSON or is nested deeper than 512 levels.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> any Sendable {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return NSNull()
    }
    do {
      return try sendable(JSONSerialization.jsonObject(with: data, options: options))
    } catch {
      throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
    }
  }
}

extension DataRequest {
  /// Adds a handler that receives the response body as untyped JSON. An empty body is an error, unless the request method or the
  /// status code allows an empty body.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - options: The options for reading JSON.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @available(*, deprecated, message: "Use responseDecodable, which checks the body's structure.")
  @discardableResult
  public func responseJSON(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
    options: JSONSerialization.ReadingOptions = .allowFragments,
    completionHandler: @escaping @Sendable (sending AFDataResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: JSONResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods, options: options)
    ) { completionHandler($0.map { $0 as Any }) }
  }
}
