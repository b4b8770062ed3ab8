// `DataStreamSerializer`: serializes each piece of a body while the body is still arriving.

public import Foundation

/// Serializes a piece of a body.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
  /// The type of the serialized value.
  associatedtype SerializedObject: Sendable

  /// Returns the serialized value of a piece of the body.
  ///
  /// - Throws: Any error. The stream reports it as `.customSerializationFailed`, unless it is an `AFError`.
  func serialize(_ data: Data) throws -> SerializedObject
}

/// A serializer that returns pieces unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
  /// Creates a serializer.
  public init() {}

  /// Returns `data`.
  public func serialize(_ data: Data) throws -> Data { data }
}

/// A serializer that decodes pieces as UTF-8 text. The stream first joins the bytes of a character that is split between two
/// pieces.
public struct StringStreamSerializer: DataStreamSerializer, AlignedStreamSerializer {
  /// Creates a serializer.
  public init() {}

  /// Returns `data` as text, with U+FFFD in place of invalid UTF-8.
  public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }

  var aligner: any PieceAligner { UTF8Aligner() }
}

/// A serializer that decodes each piece as a `T`, for servers that send one complete value at a time.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
  /// The decoder of preprocessed pieces.
  public let decoder: any DataDecoder
  /// The preprocessor that transforms a piece before it is decoded.
  public let dataPreprocessor: any DataPreprocessor

  /// Creates a serializer.
  public init(
    decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) {
    self.decoder = decoder
    self.dataPreprocessor = dataPreprocessor
  }

  /// Preprocesses the piece of data, and returns the value decoded from the result.
  ///
  /// - Throws: The preprocessor's error, or `AFError.responseSerializationFailed` with `.decodingFailed`.
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
  /// A serializer that returns pieces unchanged.
  public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
  /// A serializer that decodes pieces as UTF-8 text.
  public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
  /// A serializer that decodes each piece as a `T`.
  public static func decodable<T: Decodable & Sendable>(
    of type: T.Type, decoder: any DataDecoder = JSONDecoder(),
    dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) -> Self where Self == DecodableStreamSerializer<T> {
    DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
  }
}
