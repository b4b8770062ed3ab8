// What turns a complete body into a value: the protocols and the defaults that serializers share.

public import Foundation
public import LupineURLSession

/// Turns the outcome of a data request into a value.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
  /// What the serializer makes.
  associatedtype SerializedObject: Sendable

  /// Makes a value of the body, or throws why there is none.
  ///
  /// - Parameters:
  ///   - request: the request that was sent last, `nil` if none could be built.
  ///   - response: the server's response, `nil` if none arrived.
  ///   - data: the body, `nil` if it is empty.
  ///   - error: what failed before; a serializer that has nothing to make of it throws it again.
  func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> SerializedObject
}

/// A serializer that prepares the body first, and knows when an empty one is right.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol
{
  /// What prepares a body that isn't empty.
  var dataPreprocessor: any DataPreprocessor { get }
  /// The methods whose responses may be empty.
  var emptyRequestMethods: Set<HTTPMethod> { get }
  /// The status codes whose responses may be empty.
  var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
  /// Leaves the body as it is.
  public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }

  /// HEAD, whose response never has a body (RFC 9110 §9.3.2).
  public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyResponseDefaults.methods }

  /// 204 and 205, which have no content (RFC 9110 §15.3.5 and §15.3.6).
  public static var defaultEmptyResponseCodes: Set<Int> { EmptyResponseDefaults.codes }

  /// What prepares a body that isn't empty; by default nothing is done to it.
  public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }

  /// The methods whose responses may be empty; by default HEAD.
  public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }

  /// The status codes whose responses may be empty; by default 204 and 205.
  public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

  /// Whether the method of `request` allows an empty body; `nil` without a request.
  public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
    request?.method.map(emptyRequestMethods.contains)
  }

  /// Whether the status code of `response` allows an empty body; `nil` without a response.
  public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
    response.map { emptyResponseCodes.contains($0.statusCode) }
  }

  /// Whether the method or the status code allows an empty body.
  public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
    requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
  }

  /// The body after the preprocessor, or `nil` if it is empty and may be.
  ///
  /// - Throws: `error` if there is one, `AFError.responseSerializationFailed` with `.inputDataNilOrZeroLength` for a
  ///   body that must not be empty, and what the preprocessor throws.
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

/// When a response may be empty; made once.
private enum EmptyResponseDefaults {
  static let methods: Set<HTTPMethod> = [.head]
  static let codes: Set<Int> = [204, 205]
}

extension ResponseSerializer where Self == DataResponseSerializer {
  /// Hands the body over as it is.
  public static var data: DataResponseSerializer { DataResponseSerializer() }

  /// Hands the prepared body over.
  public static func data(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DataResponseSerializer {
    DataResponseSerializer(
      dataPreprocessor: dataPreprocessor,
      emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

extension ResponseSerializer where Self == StringResponseSerializer {
  /// Reads the body as text in the charset that the response names.
  public static var string: StringResponseSerializer { StringResponseSerializer() }

  /// Reads the prepared body as text in `encoding`, or in the charset that the response names.
  public static func string(
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> StringResponseSerializer {
    StringResponseSerializer(
      dataPreprocessor: dataPreprocessor,
      encoding: encoding,
      emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}

extension ResponseSerializer {
  /// Decodes the prepared body as a `T`.
  public static func decodable<T: Decodable>(
    of type: T.Type,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
  ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
    DecodableResponseSerializer<T>(
      dataPreprocessor: dataPreprocessor,
      decoder: decoder,
      emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
  }
}
