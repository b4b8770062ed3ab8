// WebSocketRequest+Handlers: the handlers for messages, decoded values and events.

public import Foundation
public import LupineURLSession

extension WebSocketRequest {
  /// Calls `handler` on `queue` with each event; messages are serialized by `serializer`.
  @preconcurrency
  @discardableResult
  public func streamSerializer<Serializer: WebSocketMessageSerializer>(
    _ serializer: Serializer, on queue: DispatchQueue = .main,
    handler: @escaping @Sendable (_ event: Event<Serializer.Output, Serializer.Failure>) -> Void
  ) -> Self where Serializer.Failure == any Error {
    add(
      WebSocketHandler(
        self, on: queue, serialize: { message in Result { try serializer.decode(message) } }, handler: handler))
  }

  /// Calls `handler` on `queue` with each event; messages are decoded as a `Value`.
  @preconcurrency
  @discardableResult
  public func streamDecodableEvents<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
    handler: @escaping @Sendable (_ event: Event<Value, any Error>) -> Void
  ) -> Self {
    streamSerializer(DecodableWebSocketMessageDecoder<Value>(decoder: decoder), on: queue, handler: handler)
  }

  /// Calls `handler` on `queue` with each message, decoded as a `Value`. Messages that can't be decoded are skipped.
  @preconcurrency
  @discardableResult
  public func streamDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
    handler: @escaping @Sendable (_ value: Value) -> Void
  ) -> Self {
    streamDecodableEvents(type, on: queue, using: decoder) { event in
      if let value = event.message { handler(value) }
    }
  }

  /// Calls `handler` on `queue` with each event; messages aren't serialized.
  @preconcurrency
  @discardableResult
  public func streamMessageEvents(
    on queue: DispatchQueue = .main,
    handler: @escaping @Sendable (_ event: Event<URLSessionWebSocketTask.Message, Never>) -> Void
  ) -> Self {
    add(WebSocketHandler(self, on: queue, serialize: { .success($0) }, handler: handler))
  }

  /// Calls `handler` on `queue` with each message.
  @preconcurrency
  @discardableResult
  public func streamMessages(
    on queue: DispatchQueue = .main, handler: @escaping @Sendable (_ message: URLSessionWebSocketTask.Message) -> Void
  ) -> Self {
    streamMessageEvents(on: queue) { event in
      if let message = event.message { handler(message) }
    }
  }
}
