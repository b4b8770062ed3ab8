// The serializers for bytes, text and Decodable values.

public import Foundation
public import LupineURLSession

/// Hands the body over as bytes; an allowed empty one as no bytes.
public final class DataResponseSerializer: ResponseSerializer {
  /// What prepares a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Makes a serializer.
  public init(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// Returns the prepared body.
  ///
  /// - Throws: `error`, `.inputDataNilOrZeroLength` for a body that must not be empty, or what the preprocessor throws.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> Data {
    try preparedData(request: request, response: response, data: data, error: error) ?? Data()
  }
}

/// Reads the body as text; an allowed empty one as no text.
public final class StringResponseSerializer: ResponseSerializer {
  /// What prepares a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The encoding of the body, or `nil` to go by the response's charset.
  public let encoding: String.Encoding?
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Makes a serializer.
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

  /// Returns the prepared body as text: in the explicit encoding, else the response's charset, else ISO Latin-1.
  ///
  /// A charset whose name isn't known is as none. EUC-JP is known, but Foundation on Linux can't decode it, so that it is
  /// always an error; let the server send UTF-8, or decode `Data` with a library.
  ///
  /// - Throws: `error`, `.inputDataNilOrZeroLength` for a body that must not be empty, what the preprocessor throws,
  ///   or `.stringSerializationFailed` if the bytes are no text in that encoding.
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

/// Decodes the body as a `T`; an allowed empty one as the empty value of an `EmptyResponse`.
public final class DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
  /// What prepares a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// What decodes the prepared body.
  public let decoder: any DataDecoder
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>

  /// Makes a serializer.
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

  /// Returns the value that the prepared body decodes to.
  ///
  /// - Throws: `error`, `.inputDataNilOrZeroLength` for a body that must not be empty, `.invalidEmptyResponse` if `T`
  ///   has no empty value, what the preprocessor throws, or `.decodingFailed` with the decoder's error.
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
