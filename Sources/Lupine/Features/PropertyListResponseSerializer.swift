// Bodies as property lists without a type.

public import Foundation
public import LupineURLSession

/// Reads the body as a property list, XML or binary: `String`, `NSNumber`, `Date`, `Data`, and arrays and dictionaries of
/// these; an allowed empty body as `NSNull`.
public final class PropertyListResponseSerializer: ResponseSerializer {
  /// What prepares a body that isn't empty.
  public let dataPreprocessor: any DataPreprocessor
  /// The status codes whose responses may be empty.
  public let emptyResponseCodes: Set<Int>
  /// The methods whose responses may be empty.
  public let emptyRequestMethods: Set<HTTPMethod>
  /// Which values Foundation reads as mutable ones; they are handed over as immutable ones whatever it says.
  public let options: PropertyListSerialization.ReadOptions

  /// Makes a serializer.
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

  /// Returns the property list of the prepared body.
  ///
  /// - Throws: `error`, `.inputDataNilOrZeroLength` for a body that must not be empty, what the preprocessor throws, or
  ///   `.customSerializationFailed`: with a ``PropertyListError`` if the body could do harm or holds what has no plain
  ///   value, with Foundation's error if it is no property list.
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
  /// Reads the body as a property list.
  public static var propertyList: PropertyListResponseSerializer { PropertyListResponseSerializer() }
}

extension DataRequest {
  /// Calls `completionHandler` with the body as a property list; an empty one is an error unless method or status allow
  /// it.
  ///
  /// Alamofire 5 has no such handler any more; Alamofire 4's had this form.
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

/// The same tree by types that the compiler knows to be Sendable. The check has limited how deep it nests.
private func sendable(_ list: Any) throws -> any Sendable {
  switch list {
  case let text as String: text
  case let date as Date: date
  case let data as Data: data
  case let number as NSNumber: number
  case let array as [Any]: try array.map(sendable)
  case let dictionary as [String: Any]: try dictionary.mapValues(sendable)
  case is NSNull: NSNull()
  default: throw PropertyListError.unsupportedValue(type: "\(type(of: list))")
  }
}
