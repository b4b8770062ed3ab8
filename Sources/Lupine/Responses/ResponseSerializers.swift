// ResponseSerializers: the serializers for bytes, text and `Decodable` values.

public import Foundation
public import LupineURLSession

/// A serializer that returns the response body as bytes. An empty body becomes empty `Data` if the status code or the request
/// method allows an empty body.
public final class DataResponseSerializer: ResponseSerializer {
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, it changes
  /// nothing.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public let emptyResponseCodes: Set<Int>
  /// The request methods whose responses may have an empty body. HEAD by default.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer that returns the response body as bytes.
  public init(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// Returns the preprocessed response body.
  ///
  /// - Throws: `error` if it isn't nil; `.inputDataNilOrZeroLength` for a body that must not be empty; or the preprocessor's error.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Data {
    try preparedData(request: request, response: response, data: data, error: error) ?? Data()
  }
}

extension DataResponseSerializer {
  private static let standard = DataResponseSerializer()

  /// Returns a serializer with these properties. It is always the same one for the default properties, so that the usual request
  /// doesn't allocate a serializer.
  static func shared(
    _ dataPreprocessor: any DataPreprocessor, _ emptyResponseCodes: Set<Int>, _ emptyRequestMethods: Set<HTTPMethod>
  ) -> DataResponseSerializer {
    let isStandard =
      type(of: dataPreprocessor) == PassthroughPreprocessor.self
      && emptyResponseCodes == standard.emptyResponseCodes && emptyRequestMethods == standard.emptyRequestMethods
    guard !isStandard else { return standard }
    return DataResponseSerializer(
      dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

/// A serializer that reads the response body as text. An empty body becomes an empty string if the status code or the request
/// method allows an empty body.
public final class StringResponseSerializer: ResponseSerializer {
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, it changes
  /// nothing.
  public let dataPreprocessor: any DataPreprocessor
  /// The encoding of the response body, or nil (the default) to use the response's charset.
  public let encoding: String.Encoding?
  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public let emptyResponseCodes: Set<Int>
  /// The request methods whose responses may have an empty body. HEAD by default.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer that reads the response body as text.
  public init(
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.encoding = encoding
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// Returns the preprocessed response body as text. The text's encoding is ``encoding`` or, if that is nil, the response's
  /// charset. If the response names no known charset, the encoding is ISO Latin-1.
  ///
  /// EUC-JP is a known charset, but Foundation on Linux can't decode it, so text in EUC-JP always results in an error. In that
  /// case, have the server send UTF-8, or decode `Data` with a library.
  ///
  /// - Throws: `error` if it isn't nil; `.inputDataNilOrZeroLength` for a body that must not be empty; the preprocessor's error; or
  ///   `.stringSerializationFailed` if the body isn't valid text in that encoding.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> String {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return ""
    }
    let encoding =
      encoding ?? response?.textEncodingName.flatMap(String.Encoding.init(charsetName:)) ?? .isoLatin1
    guard let text = String(data: data, encoding: encoding) else {
      throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
    }
    return text
  }
}

/// A serializer that decodes the response body as a `T`. If the status code or the request method allows an empty body, and `T` is
/// an `EmptyResponse`, an empty body becomes the type's empty value.
public final class DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, it changes
  /// nothing.
  public let dataPreprocessor: any DataPreprocessor
  /// The decoder that decodes the preprocessed response body. A `JSONDecoder` by default.
  public let decoder: any DataDecoder
  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public let emptyResponseCodes: Set<Int>
  /// The request methods whose responses may have an empty body. HEAD by default.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer that decodes the response body as a `T`.
  public init(
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.decoder = decoder
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// Returns the value decoded from the preprocessed response body.
  ///
  /// - Throws: `error` if it isn't nil; `.inputDataNilOrZeroLength` for a body that must not be empty; `.invalidEmptyResponse` if
  ///   `T` has no empty value; the preprocessor's error; or `.decodingFailed` with the decoder's error.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> T {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return try Self.emptyValue()
    }
    return try decoder.decoded(from: data).get()
  }

  private static func emptyValue() throws -> T {
    guard let type = T.self as? any EmptyResponse.Type, let value = type.emptyValue() as? T else {
      throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
    }
    return value
  }
}
