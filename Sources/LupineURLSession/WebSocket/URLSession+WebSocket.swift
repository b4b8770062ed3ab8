// URLSession+WebSocket: the delegate of WebSocket tasks, and the creation of these tasks.

public import Foundation

/// The methods that a session calls on its delegate queue when a WebSocket connection opens and closes.
@preconcurrency
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
  /// Called when the opening handshake has succeeded, so that the connection exchanges messages.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - webSocketTask: The task.
  ///   - protocol: The subprotocol that the server has chosen, or nil for none.
  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
  /// Called when the server has sent a Close frame, on its own account or as its answer.
  ///
  /// The task completes afterward, when the server has closed the connection.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - webSocketTask: The task.
  ///   - closeCode: The code of the frame, or ``URLSessionWebSocketTask/CloseCode/noStatusReceived`` if it has none.
  ///   - reason: The text in UTF-8 that explains the code, or nil if there is none.
  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) {
    let next = webSocketTask.delegate(after: self) as? any URLSessionWebSocketDelegate
    next?.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) {
    let next = webSocketTask.delegate(after: self) as? any URLSessionWebSocketDelegate
    next?.urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
  }
}

extension URLSession {
  /// Creates a suspended task that opens a WebSocket connection.
  ///
  /// - Parameter url: A ws or wss URL. With another scheme, the task completes with `URLError.unsupportedURL`.
  /// - Returns: The task. If the session is invalid, the task completes with `URLError.cancelled` after it has been resumed.
  public func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
    makeWebSocket(URLRequest(url: url), offering: [])
  }

  /// Creates a suspended task that opens a WebSocket connection and offers subprotocols.
  ///
  /// - Parameters:
  ///   - url: A ws or wss URL, as for `webSocketTask(with:)`.
  ///   - protocols: The subprotocols to offer, in order of preference. The server chooses one or none.
  /// - Returns: The task.
  public func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
    makeWebSocket(URLRequest(url: url), offering: protocols)
  }

  /// Creates a suspended task that opens a WebSocket connection.
  ///
  /// - Parameter request: A GET request with a ws or wss URL and without a body. Its `Sec-WebSocket-Protocol` field contains the
  ///   subprotocols to offer, separated by commas. The task replaces the other fields of the handshake.
  /// - Returns: The task.
  public func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
    let offered = request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") ?? ""
    return makeWebSocket(
      request, offering: offered.split { $0 == "," || $0 == " " || $0 == "\t" }.map { String($0) })
  }

  func makeWebSocket(_ request: URLRequest, offering subprotocols: [String]) -> URLSessionWebSocketTask {
    add(URLSessionWebSocketTask(self, request, subprotocols: subprotocols, identifier: nextTaskIdentifier()))
  }
}
