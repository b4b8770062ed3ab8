// ResponseSerializers: the serializers for bytes, text and `Decodable` values.

public import Foundation
public import LupineURLSession

/// Returns the body as bytes. If an empty body is allowed, returns empty `Data` for it.
public final class DataResponseSerializer: ResponseSerializer {
  /// Transforms a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer.
  public init(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// Returns the preprocessed body.
  ///
  /// - Throws: `error` if there is one; `.inputDataNilOrZeroLength` for a body that must not be empty; or the
  ///   preprocessor's error.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Data {
    try preparedData(request: request, response: response, data: data, error: error) ?? Data()
  }
}

/// Reads the body as text. If an empty body is allowed, returns an empty string for it.
public final class StringResponseSerializer: ResponseSerializer {
  /// Transforms a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The encoding of the body, or nil to use the response's charset.
  public let encoding: String.Encoding?
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer.
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

  /// Returns the preprocessed body as text. Its encoding is ``encoding`` if that is set, or else the response's charset, or
  /// else ISO Latin-1.
  ///
  /// An unknown charset is ignored. EUC-JP is known, but Foundation on Linux can't decode it, so it always results in an error.
  /// In that case, have the server send UTF-8, or decode `Data` with a library.
  ///
  /// - Throws: `error` if there is one; `.inputDataNilOrZeroLength` for a body that must not be empty; the preprocessor's error;
  ///   or `.stringSerializationFailed` if the body isn't valid text in that encoding.
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

/// Decodes the body as a `T`. If an empty body is allowed, returns the empty value of an `EmptyResponse`.
public final class DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
  /// Transforms a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// Decodes the preprocessed body.
  public let decoder: any DataDecoder
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Creates a serializer.
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

  /// Returns the value decoded from the preprocessed body.
  ///
  /// - Throws: `error` if there is one; `.inputDataNilOrZeroLength` for a body that must not be empty;
  ///   `.invalidEmptyResponse` if `T` has no empty value; the preprocessor's error; or `.decodingFailed` with the
  ///   decoder's error.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> T {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return try Self.emptyValue()
    }
    do {
      return try decoder.decode(T.self, from: data)
    } catch {
      throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
    }
  }

  private static func emptyValue() throws -> T {
    guard let type = T.self as? any EmptyResponse.Type, let value = type.emptyValue() as? T else {
      throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(T.self)"))
    }
    return value
  }
}
