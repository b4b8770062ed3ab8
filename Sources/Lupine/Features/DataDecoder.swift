// What decodes a body: JSON, property lists, or a format of one's own.

public import Foundation

/// Decodes values from bytes.
public protocol DataDecoder: Sendable {
  /// Returns the value of type `D` that `data` holds.
  ///
  /// - Throws: any error, which the response reports as `.decodingFailed`.
  func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
