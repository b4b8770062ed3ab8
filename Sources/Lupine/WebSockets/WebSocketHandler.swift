// `WebSocketHandler`: serializes the messages of a WebSocket request, and delivers its events, in order, to a handler on its queue.

import Foundation
import LupineURLSession

/// An event of a WebSocket connection, before serialization.
enum WebSocketEvent: Sendable {
  case connected(protocol: String?)
  case message(URLSessionWebSocketTask.Message)
  case disconnected(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
  case completed(WebSocketRequest.Completion)
}

/// Receives the events of a WebSocket request, on the request's underlying queue.
protocol WebSocketEventReceiver: Sendable {
  /// Processes an event of `request`. Enters `group`, and leaves it when the caller's handler has returned.
  func take(_ event: WebSocketEvent, of request: WebSocketRequest, _ group: DispatchGroup)
}

/// Passes the events of a WebSocket request to the caller's handler. The handler is called serially, even if the caller's queue is
/// concurrent.
struct WebSocketHandler<Success: Sendable, Failure: Error>: WebSocketEventReceiver {
  typealias Event = WebSocketRequest.Event<Success, Failure>

  private let serializationQueue: DispatchQueue
  private let queue: DispatchQueue
  private let serialize: @Sendable (URLSessionWebSocketTask.Message) -> Result<Success, Failure>
  private let handler: @Sendable (Event) -> Void

  init(
    _ request: WebSocketRequest, on queue: DispatchQueue,
    serialize: @escaping @Sendable (URLSessionWebSocketTask.Message) -> Result<Success, Failure>,
    handler: @escaping @Sendable (Event) -> Void
  ) {
    // Serial queues, because the caller's queues may be concurrent.
    serializationQueue = DispatchQueue(label: "lupine.websocket.serialization", target: request.serializationQueue)
    self.queue = DispatchQueue(label: "lupine.websocket.handler", target: queue)
    self.serialize = serialize
    self.handler = handler
  }

  func take(_ event: WebSocketEvent, of request: WebSocketRequest, _ group: DispatchGroup) {
    group.enter()
    // Every event takes the same two queues, so that none overtakes another.
    serializationQueue.async {
      let event = Event(kind(of: event), of: request)
      queue.async {
        handler(event)
        group.leave()
      }
    }
  }

  private func kind(of event: WebSocketEvent) -> Event.Kind {
    switch event {
    case .connected(let subprotocol): .connected(protocol: subprotocol)
    case .message(let message):
      switch serialize(message) {
      case .success(let value): .receivedMessage(value)
      case .failure(let error): .serializerFailed(error)
      }
    case .disconnected(let closeCode, let reason): .disconnected(closeCode: closeCode, reason: reason)
    case .completed(let completion): .completed(completion)
    }
  }
}
