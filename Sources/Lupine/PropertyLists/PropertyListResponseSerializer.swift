// `PropertyListResponseSerializer`: reads untyped property lists.

public import Foundation
public import LupineURLSession

/// A serializer that reads the response body as an XML or binary property list: `String`, `NSNumber`, `Date`, `Data`, and arrays
/// and dictionaries of these. An empty body becomes `NSNull` if the status code or the request method allows an empty body.
public final class PropertyListResponseSerializer: ResponseSerializer {
  /// The preprocessor that transforms the response body before it is serialized, unless the body is empty. By default, it changes
  /// nothing.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may have an empty body. 204 and 205 by default.
  public let emptyResponseCodes: Set<Int>
  /// The request methods whose responses may have an empty body. HEAD by default.
  public let emptyRequestMethods: Set<HTTPMethod>
  /// The options for Foundation's property list parser. None by default. Whatever the options, the parsed values are immutable.
  public let options: PropertyListSerialization.ReadOptions

  /// Creates a serializer that reads property lists.
  public init(
    dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
    options: PropertyListSerialization.ReadOptions = []
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
    self.options = options
  }

  /// Parses the preprocessed response body as a property list, and returns the value.
  ///
  /// - Throws: `error` if it isn't nil; `.inputDataNilOrZeroLength` for a body that must not be empty; the preprocessor's error; or
  ///   `.customSerializationFailed`. That error wraps Foundation's error if the body isn't a property list. It wraps a
  ///   ``PropertyListError`` if Foundation could crash, hang or run out of memory on the body, or if the body contains a value that
  ///   occurs only in keyed archives.
  public func serialize(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) throws -> any Sendable {
    guard let data = try preparedData(request: request, response: response, data: data, error: error) else {
      return NSNull()
    }
    do {
      try PropertyListCheck.check(data)
      return try sendable(PropertyListSerialization.propertyList(from: data, options: options, format: nil))
    } catch {
      throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
    }
  }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
  /// A serializer that reads the response body as a property list.
  public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}

extension DataRequest {
  /// Adds a handler that receives the response body as a property list. An empty body is an error, unless the request method or the
  /// status code allows an empty body.
  ///
  /// Alamofire 5 has no such handler. This method has the API of Alamofire 4's `responsePropertyList`.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the handler is called. The main queue by default.
  ///   - dataPreprocessor: Transforms the content before it is serialized, unless the content is empty.
  ///   - emptyResponseCodes: The status codes that allow empty content. 204 and 205 by default.
  ///   - emptyRequestMethods: The request methods that allow empty content. `HEAD` by default.
  ///   - options: The options for reading property lists.
  ///   - completionHandler: Called once, after the last attempt, with the response, which contains the value or the error.
  @preconcurrency
  @discardableResult
  public func responsePropertyList(
    queue: DispatchQueue = .main,
    dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPMethod> = PropertyListResponseSerializer.defaultEmptyRequestMethods,
    options: PropertyListSerialization.ReadOptions = [],
    completionHandler: @escaping @Sendable (sending AFDataResponse<Any>) -> Void
  ) -> Self {
    response(
      queue: queue,
      responseSerializer: PropertyListResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods, options: options)
    ) { completionHandler($0.map { $0 as Any }) }
  }
}

/// Converts the values of JSON or a property list to types that are known to be Sendable. The recursion is bounded, because
/// JSONSerialization and `PropertyListCheck` limit the nesting to 512 levels.
func sendable(_ value: Any) throws -> any Sendable {
  switch value {
  case let text as String: text
  case let number as NSNumber: number
  case let array as [Any]: try array.map(sendable)
  case let dictionary as [String: Any]: try dictionary.mapValues(sendable)
  case let date as Date: date
  case let data as Data: data
  case is NSNull: NSNull()
  default: throw PropertyListError.unsupportedValue(type: "\(type(of: value))")
  }
}

extension PropertyListDecoder: DataDecoder {
  // The method isn't named `decode`, because a direct call would be ambiguous between it and the decoder's own method.
  /// Checks that Foundation can read `data` safely, then decodes a value from it.
  ///
  /// - Throws: ``PropertyListError`` if Foundation could crash, hang or run out of memory on `data`, or the decoder's error.
  @_disfavoredOverload
  @_implements(DataDecoder,decode(_:from:))
  public func decodeChecked<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
    try PropertyListCheck.check(data)
    return try decode(type, from: data)
  }
}
