// Bodies as JSON objects without a type, for programs that used them before Decodable came.

public import Foundation
public import LupineURLSession

/// Reads the body as JSON: `NSNull`, `NSNumber`, `String`, and arrays and dictionaries of these; an allowed empty body as
/// `NSNull`.
@available(*, deprecated, message: "Use DecodableResponseSerializer, which checks the body's structure.")
public final class JSONResponseSerializer: ResponseSerializer {
  /// What prepares a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>
  /// What is taken for JSON beyond arrays and dictionaries.
  public let options: JSONSerialization.ReadingOptions

  /// Makes a serializer.
  ///
  /// - Parameters:
  ///   - dataPreprocessor: what prepares a body that isn't empty.
  ///   - emptyResponseCodes: the status codes whose responses may be empty.
  ///   - emptyRequestMethods: the methods whose responses may be empty.
  ///   - options: by default single values are taken too (RFC 8259 §2).
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

  /// Returns the JSON of the prepared body.
  ///
  /// - Throws: `error`, `.inputDataNilOrZeroLength` for a body that must not be empty, what the preprocessor throws, or
  ///   `.jsonSerializationFailed` if the body is not JSON or nests deeper than 512 levels.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> any Sendable {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return NSNull()
    }
    do {
      return sendable(try JSONSerialization.jsonObject(with: data, options: options))
    } catch {
      throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
    }
  }
}

extension DataRequest {
  /// Calls `completionHandler` with the body as JSON; an empty one is an error unless method or status allow it.
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

/// The same tree by types that the compiler knows to be Sendable. JSONSerialization nests 512 levels at most.
private func sendable(_ json: Any) -> any Sendable {
  switch json {
  case let text as String: text
  case let number as NSNumber: number
  case let array as [Any]: array.map(sendable)
  case let dictionary as [String: Any]: dictionary.mapValues(sendable)
  default: NSNull()
  }
}
