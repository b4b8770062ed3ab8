// `DataPreprocessor`: transforms a body before it is serialized.

public import Foundation

/// A type that transforms a response body before the body is serialized. A preprocessor isn't called for an empty body.
public protocol DataPreprocessor: Sendable {
  /// Returns the data to serialize instead of `data`.
  ///
  /// - Throws: Any error. The response's error is then `.customSerializationFailed`, unless the thrown error is an `AFError`.
  func preprocess(_ data: Data) throws -> Data
}

/// A preprocessor that returns the body unchanged.
public struct PassthroughPreprocessor: DataPreprocessor {
  /// Creates a preprocessor that returns the body unchanged.
  public init() {}

  /// Returns `data` unchanged.
  public func preprocess(_ data: Data) throws -> Data { data }
}

/// A preprocessor that removes the line `)]}',`, which some services send before JSON so that scripts of other sites can't load the
/// JSON (cross-site script inclusion, XSSI).
public struct GoogleXSSIPreprocessor: DataPreprocessor {
  private static let prefix = Data(")]}',\n".utf8)

  /// Creates a preprocessor that removes the line `)]}',` from the start of the body.
  public init() {}

  /// Returns `data` without the line `)]}',` at its start, or unchanged if `data` doesn't start with that line.
  public func preprocess(_ data: Data) throws -> Data {
    data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
  }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
  /// A preprocessor that returns the body unchanged.
  public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
  /// A preprocessor that removes the line `)]}',`, which some services send before JSON.
  public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
