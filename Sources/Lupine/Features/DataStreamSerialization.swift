// What turns each piece of a body into a value, while the body is still coming.

public import Foundation

/// Turns a piece of a body into a value.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
  /// What the serializer makes.
  associatedtype SerializedObject: Sendable

  /// Makes a value of a piece.
  ///
  /// - Throws: any error, which the stream reports as `.customSerializationFailed` unless it is an `AFError`.
  func serialize(_ data: Data) throws -> SerializedObject
}

/// Hands pieces over as they are.
public struct PassthroughStreamSerializer: DataStreamSerializer {
  /// Makes a serializer.
  public init() {}

  /// Returns `data`.
  public func serialize(_ data: Data) throws -> Data { data }
}

/// Reads pieces as UTF-8. A stream joins characters whose bytes came in different pieces.
public struct StringStreamSerializer: DataStreamSerializer, AlignedStreamSerializer {
  /// Makes a serializer.
  public init() {}

  /// Returns `data` as text, with U+FFFD for what isn't UTF-8.
  public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }

  var aligner: any PieceAligner { UTF8Aligner() }
}

/// Decodes each piece as a `T`: for servers that send one value at a time, whole.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
  /// What decodes a prepared piece.
  public let decoder: any DataDecoder
  /// What prepares a piece.
  public let dataPreprocessor: any DataPreprocessor

  /// Makes a serializer.
  public init(
    decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) {
    self.decoder = decoder
    self.dataPreprocessor = dataPreprocessor
  }

  /// Returns the value that the prepared piece decodes to.
  ///
  /// - Throws: what the preprocessor throws, or `AFError.responseSerializationFailed` with `.decodingFailed`.
  public func serialize(_ data: Data) throws -> T {
    let data = try dataPreprocessor.preprocess(data)
    do {
      return try decoder.decode(T.self, from: data)
    } catch {
      throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
    }
  }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
  /// Hands pieces over as they are.
  public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
  /// Reads pieces as UTF-8.
  public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
  /// Decodes each piece as a `T`.
  public static func decodable<T: Decodable & Sendable>(
    of type: T.Type, decoder: any DataDecoder = JSONDecoder(),
    dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) -> Self where Self == DecodableStreamSerializer<T> {
    DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
  }
}
