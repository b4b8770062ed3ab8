// `WebSocketMessageSerializer`: converts the messages of a WebSocket connection to values.

public import Foundation
public import LupineURLSession

/// A serializer that converts each message of a WebSocket connection to a value.
public protocol WebSocketMessageSerializer<Output, Failure>: Sendable {
  /// The type of the value that the serializer creates.
  associatedtype Output: Sendable
  /// The type of the errors that the serializer throws.
  associatedtype Failure: Error = any Error

  /// Returns the value that this serializer creates from a message. Called on the request's serialization queue.
  func decode(_ message: URLSessionWebSocketTask.Message) throws -> Output
}

extension WebSocketMessageSerializer {
  /// A serializer that decodes each message from JSON as a `Value`.
  public static func json<Value: Decodable & Sendable>(
    decoding _: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
  ) -> DecodableWebSocketMessageDecoder<Value> where Self == DecodableWebSocketMessageDecoder<Value> {
    DecodableWebSocketMessageDecoder<Value>(decoder: decoder)
  }
}

/// A serializer that decodes each message as a `Value`: text as its UTF-8 bytes, and binary messages as they are.
public struct DecodableWebSocketMessageDecoder<Value: Decodable & Sendable>: WebSocketMessageSerializer {
  /// The error if a message can't be decoded.
  public enum Error: Swift.Error {
    /// The decoder threw this error.
    case decoding(any Swift.Error)
    /// The message has an unknown type. Connections of this package have only text and binary messages.
    case unknownMessage(description: String)
  }

  /// The decoder for the bytes of a message.
  public let decoder: any DataDecoder

  /// Creates a serializer that decodes each message with `decoder`.
  public init(decoder: any DataDecoder) {
    self.decoder = decoder
  }

  /// Returns the value decoded from a message.
  ///
  /// - Throws: ``Error/decoding(_:)``.
  public func decode(_ message: URLSessionWebSocketTask.Message) throws -> Value {
    let data =
      switch message {
      case .data(let data): data
      case .string(let text): Data(text.utf8)
      }
    do {
      return try decoder.decode(Value.self, from: data)
    } catch {
      throw Error.decoding(error)
    }
  }
}
