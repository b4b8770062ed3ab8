// `DataDecoder`: decodes a body, such as JSON, a property list, or another format.

public import Foundation

/// Decodes values from data.
public protocol DataDecoder: Sendable {
  /// Returns the value of type `D` in `data`.
  ///
  /// - Throws: Any error; the response has it as `.decodingFailed`.
  func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
