// `WebSocketRequest.Event`: the value that a WebSocket request passes to its handlers, and the request's configuration.

public import Foundation
public import LupineURLSession

extension WebSocketRequest {
  /// The argument of a WebSocket request's handler: an event of the connection, with methods that control the request.
  public struct Event<Success: Sendable, Failure: Error>: Sendable {
    /// The kind of an event, with its value.
    public enum Kind: Sendable {
      /// The opening handshake has succeeded. The associated value is the subprotocol that the server chose, or nil for none.
      case connected(protocol: String?)
      /// A message was received and serialized.
      case receivedMessage(Success)
      /// A message was received, but can't be serialized. The connection stays open.
      case serializerFailed(Failure)
      /// The server has sent a Close frame, on its own account or in reply. This event doesn't occur if the connection is lost or
      /// the request is cancelled without a code.
      case disconnected(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
      /// The request has ended. This is the last event.
      case completed(Completion)
    }

    /// The kind of this event.
    public let kind: Kind
    private weak var socket: WebSocketRequest?

    init(_ kind: Kind, of socket: WebSocketRequest) {
      self.kind = kind
      self.socket = socket
    }

    /// The received message, or nil if this is an event of another kind.
    public var message: Success? {
      if case .receivedMessage(let message) = kind { message } else { nil }
    }

    /// Closes the connection. See ``WebSocketRequest/close(sending:reason:)``.
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
      socket?.close(sending: closeCode, reason: reason)
    }

    /// Cancels the request, which ends the connection without a Close frame.
    public func cancel() { socket?.cancel() }

    /// Sends a ping. See ``WebSocketRequest/sendPing(respondingOn:onResponse:)``.
    public func sendPing(
      respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
    ) {
      guard let socket else { return queue.async { onResponse(.unsent) } }
      socket.sendPing(respondingOn: queue, onResponse: onResponse)
    }
  }

  /// The outcome of a WebSocket request.
  public struct Completion: Sendable {
    /// The last `URLRequest`, as the adapters returned it, or nil if no `URLRequest` could be created.
    public let request: URLRequest?
    /// The head of the server's response to the opening handshake, or nil if none was received.
    public let response: HTTPURLResponse?
    /// The metrics of the request's last task, or nil if no task has produced metrics.
    public let metrics: URLSessionTaskMetrics?
    /// The error of the request. Nil if the connection was closed with a Close frame.
    public let error: AFError?
  }

  /// The settings of a WebSocket request.
  public struct Configuration: Sendable {
    /// The default settings: no subprotocol, messages of at most 1 MiB, and no automatic pings.
    public static var `default`: Self { Self() }

    /// Returns the default settings with a subprotocol to offer, or several that are separated by commas.
    public static func `protocol`(_ protocol: String) -> Self { Self(protocol: `protocol`) }

    /// Returns the default settings with another maximum length of received messages, in bytes.
    public static func maximumMessageSize(_ maximumMessageSize: Int) -> Self {
      Self(maximumMessageSize: maximumMessageSize)
    }

    /// Returns the default settings with pings that are sent after each interval of silence, in seconds.
    public static func pingInterval(_ pingInterval: TimeInterval) -> Self { Self(pingInterval: pingInterval) }

    /// The subprotocol to offer, or nil for none.
    public let `protocol`: String?
    /// The maximum length of a received message in bytes. A longer message ends the request with an error.
    public let maximumMessageSize: Int
    /// The number of seconds without bytes from the server after which a ping is sent, or nil for no pings. If the server doesn't
    /// answer within 20 seconds, the request fails with `URLError.timedOut`.
    public let pingInterval: TimeInterval?

    init(protocol: String? = nil, maximumMessageSize: Int = 1_048_576, pingInterval: TimeInterval? = nil) {
      self.protocol = `protocol`
      self.maximumMessageSize = maximumMessageSize
      self.pingInterval = pingInterval
    }
  }

  /// The result of sending a ping.
  public enum PingResponse: Sendable {
    /// The server's answer.
    public struct Pong: Sendable {
      /// The time at which the ping was sent.
      public let start: Date
      /// The time at which the answer arrived.
      public let end: Date
      /// The number of seconds between ping and answer.
      public let latency: TimeInterval
    }

    /// The server has answered.
    case pong(Pong)
    /// The connection ended before the server had answered.
    case error(any Error)
    /// The ping wasn't sent, because the request isn't running.
    case unsent
  }
}
