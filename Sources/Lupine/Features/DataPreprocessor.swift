// What happens to a body before it is serialized.

public import Foundation

/// Prepares a body for its serializer. It is not asked for an empty one.
public protocol DataPreprocessor: Sendable {
  /// Returns what is to be serialized instead of `data`.
  ///
  /// - Throws: any error, which the response reports as `.customSerializationFailed` unless it is an `AFError`.
  func preprocess(_ data: Data) throws -> Data
}

/// Leaves the body as it is.
public struct PassthroughPreprocessor: DataPreprocessor {
  /// Makes a preprocessor.
  public init() {}

  /// Returns `data`.
  public func preprocess(_ data: Data) throws -> Data { data }
}

/// Takes off the `)]}',` line that some services put before their JSON, so that no script can include it.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
  private static let prefix = Data(")]}',\n".utf8)

  /// Makes a preprocessor.
  public init() {}

  /// Returns `data` without the line, or as it is if it doesn't start with it.
  public func preprocess(_ data: Data) throws -> Data {
    data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
  }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
  /// Leaves the body as it is.
  public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
  /// Takes off the `)]}',` line that some services put before their JSON.
  public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
