// `ResponseSerializer`: the protocols of serializers, of decoders and of empty values, and their shared defaults.

public import Foundation
public import LupineURLSession

/// A serializer that creates a value from the outcome of a data request: its response body or its error.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
  /// The type of the value that the serializer creates.
  associatedtype SerializedObject: Sendable

  /// Returns the value that this serializer creates from the outcome of a data request.
  ///
  /// - Parameters:
  ///   - request: The last request sent, or nil if no request could be created.
  ///   - response: The server's response, or nil if none was received.
  ///   - data: The body, or nil if it is empty.
  ///   - error: The request's error, or nil. A serializer that can't recover from the error should throw it.
  func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> SerializedObject
}

/// A serializer that preprocesses the response body, and that accepts an empty body only for some status codes and request methods.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol
{
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty.
  var dataPreprocessor: any DataPreprocessor { get }
  /// The request methods whose responses may have an empty body.
  var emptyRequestMethods: Set<HTTPMethod> { get }
  /// The status codes whose responses may have an empty body.
  var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
  /// The default value of `dataPreprocessor`: a preprocessor that returns the body unchanged.
  public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }

  /// The default value of `emptyRequestMethods`: HEAD, because responses to HEAD never have a body (RFC 9110 §9.3.2).
  public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyResponseDefaults.methods }

  /// The default value of `emptyResponseCodes`: 204 and 205, whose responses have no content (RFC 9110 §15.3.5 and §15.3.6).
  public static var defaultEmptyResponseCodes: Set<Int> { EmptyResponseDefaults.codes }

  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, a
  /// preprocessor that returns the body unchanged.
  public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }

  /// The request methods whose responses may have an empty body. HEAD by default.
  public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }

  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

  /// Returns whether the method of `request` allows an empty body, or nil if there is no request.
  public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
    request?.method.map(emptyRequestMethods.contains)
  }

  /// Returns whether the status code of `response` allows an empty body, or nil if there is no response.
  public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
    response.map { emptyResponseCodes.contains($0.statusCode) }
  }

  /// Returns whether the method of `request` or the status code of `response` allows an empty body.
  public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
    requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
  }

  /// Returns the preprocessed response body, or nil if the body is empty and is allowed to be empty.
  ///
  /// - Throws: `error` if it isn't nil; `AFError.responseSerializationFailed` with `.inputDataNilOrZeroLength` for a body that must
  ///   not be empty; or the preprocessor's error.
  func preparedData(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Data? {
    if let error { throw error }
    if let data, !data.isEmpty { return try dataPreprocessor.preprocess(data) }
    guard emptyResponseAllowed(forRequest: request, response: response) else {
      throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
    }
    return nil
  }
}

/// The request methods and status codes whose responses may have an empty body by default. The sets are static, so that they are
/// created only once.
private enum EmptyResponseDefaults {
  static let methods: Set<HTTPMethod> = [.head]
  static let codes: Set<Int> = [204, 205]
}

extension ResponseSerializer where Self == DataResponseSerializer {
  /// A serializer that returns the response body unchanged.
  public static var data: DataResponseSerializer { DataResponseSerializer() }

  /// A serializer that returns the preprocessed response body.
  public static func data(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DataResponseSerializer {
    DataResponseSerializer(
      dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

extension ResponseSerializer where Self == StringResponseSerializer {
  /// A serializer that reads the response body as text in the response's charset.
  public static var string: StringResponseSerializer { StringResponseSerializer() }

  /// A serializer that reads the preprocessed response body as text in `encoding`, or in the response's charset if `encoding` is
  /// nil.
  public static func string(
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> StringResponseSerializer {
    StringResponseSerializer(
      dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

extension ResponseSerializer {
  /// A serializer that decodes the preprocessed response body as a `T`.
  public static func decodable<T: Decodable>(
    of type: T.Type,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
  ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
    DecodableResponseSerializer<T>(
      dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

/// A decoder of response bodies, such as `JSONDecoder`.
public protocol DataDecoder: Sendable {
  /// Decodes a value of type `D` from `data`, a response body.
  ///
  /// - Throws: Any error. The response's error is then `.decodingFailed`, which wraps the thrown error.
  func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}

/// A type with a value that represents a response without a body.
public protocol EmptyResponse: Sendable {
  /// Returns the value that represents a response without a body.
  static func emptyValue() -> Self
}

/// The value of a response whose body is empty or is ignored.
public struct Empty: Codable, Hashable, Sendable {
  /// The only value of the type `Empty`.
  public static let value = Empty()
}

extension Empty: EmptyResponse {
  /// Returns ``value``, the only value of the type.
  public static func emptyValue() -> Empty { value }
}
