// `DataStreamSerializer`: serializes each piece of a body while the body is still arriving.

public import Foundation

/// A serializer that converts each piece of a streamed response body to a value.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
  /// The type of the value that the serializer creates.
  associatedtype SerializedObject: Sendable

  /// Returns the value that this serializer creates from `data`, a piece of the response body.
  ///
  /// - Throws: Any error. The stream reports it as `.customSerializationFailed`, unless it is an `AFError`.
  func serialize(_ data: Data) throws -> SerializedObject
}

/// A serializer that returns each piece of the body unchanged.
public struct PassthroughStreamSerializer: DataStreamSerializer {
  /// Creates a serializer that returns each piece of the body unchanged.
  public init() {}

  /// Returns `data`, a piece of the response body, unchanged.
  public func serialize(_ data: Data) throws -> Data { data }
}

/// A serializer that decodes each piece of the body as UTF-8 text. In a stream request, a character whose bytes are split between
/// two pieces is decoded with the later piece.
public struct StringStreamSerializer: DataStreamSerializer {
  /// Creates a serializer that decodes each piece of the body as UTF-8 text.
  public init() {}

  /// Returns `data`, a piece of the response body, as text, with U+FFFD in place of invalid UTF-8.
  public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// A serializer that decodes each piece of the body as a `T`, for servers that send one complete value at a time.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
  /// The decoder for the pieces of the body, after preprocessing. A `JSONDecoder` by default.
  public let decoder: any DataDecoder
  /// The preprocessor that transforms each piece of the body before decoding. By default, it changes nothing.
  public let dataPreprocessor: any DataPreprocessor

  /// Creates a serializer that decodes each piece of the body as a `T`.
  public init(
    decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) {
    self.decoder = decoder
    self.dataPreprocessor = dataPreprocessor
  }

  /// Preprocesses `data`, a piece of the response body, and returns the value decoded from the result.
  ///
  /// - Throws: The preprocessor's error, or `AFError.responseSerializationFailed` with `.decodingFailed`.
  public func serialize(_ data: Data) throws -> T {
    try decoder.decoded(from: dataPreprocessor.preprocess(data)).get()
  }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
  /// A serializer that returns each piece of the body unchanged.
  public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
  /// A serializer that decodes each piece of the body as UTF-8 text.
  public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
  /// A serializer that decodes each piece of the body as a `T`.
  public static func decodable<T: Decodable & Sendable>(
    of type: T.Type, decoder: any DataDecoder = JSONDecoder(),
    dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) -> Self where Self == DecodableStreamSerializer<T> {
    DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
  }
}
