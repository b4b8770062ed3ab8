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

/// Passes the events of a WebSocket request to the caller's handler. The handler is called serially, even if the caller's queue is
/// concurrent.
struct WebSocketHandler: Sendable {
  /// Processes an event of the request, on its underlying queue. Enters the group, and leaves it when the caller's handler has
  /// returned.
  let take: @Sendable (WebSocketEvent, _ request: WebSocketRequest, _ group: DispatchGroup) -> Void

  init<Success: Sendable, Failure: Error>(
    _ request: WebSocketRequest, on queue: DispatchQueue,
    serialize: @escaping @Sendable (URLSessionWebSocketTask.Message) -> Result<Success, Failure>,
    handler: @escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Void
  ) {
    // Serial queues, because the caller's queues may be concurrent.
    let serialization = DispatchQueue(label: "lupine.websocket.serialization", target: request.serializationQueue)
    let handling = DispatchQueue(label: "lupine.websocket.handler", target: queue)
    take = { event, request, group in
      group.enter()
      // Every event takes the same two queues, so that none overtakes another.
      serialization.async {
        let event = WebSocketRequest.Event<Success, Failure>(event.serialized(by: serialize), of: request)
        handling.async {
          handler(event)
          group.leave()
        }
      }
    }
  }
}

extension WebSocketEvent {
  fileprivate func serialized<Success: Sendable, Failure: Error>(
    by serialize: (URLSessionWebSocketTask.Message) -> Result<Success, Failure>
  ) -> WebSocketRequest.Event<Success, Failure>.Kind {
    switch self {
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
