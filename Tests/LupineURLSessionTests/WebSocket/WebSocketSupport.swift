// WebSocketSupport: a delegate, servers and messages for the tests of WebSocket tasks.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineWebSocket
import Synchronization
import Testing

@testable import LupineURLSession

/// A delegate that records the events of WebSocket tasks.
final class SocketDelegate: NSObject, URLSessionWebSocketDelegate, Sendable {
  let events = Recorder<String>()
  let redirect: @Sendable (URLRequest) -> URLRequest?

  init(redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }) { self.redirect = redirect }

  func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
  {
    events.record("open \(`protocol` ?? "-")")
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) {
    events.record("close \(closeCode.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    events.record("redirect \(request.url?.scheme ?? "-")")
    completionHandler(redirect(request))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
      return completionHandler(.performDefaultHandling, nil)
    }
    events.record("challenge")
    completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    events.record("sent")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    events.record("metrics \(metrics.transactionMetrics.count)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    events.record("end \(error.map(errorName) ?? "-")")
  }
}

/// Returns the domain and the code of an error, such as "POSIX 107".
func errorName(_ error: any Error) -> String {
  let error = error as NSError
  return "\(error.domain == NSPOSIXErrorDomain ? "POSIX" : "URL") \(error.code)"
}

extension OriginServer {
  /// The server's URL with the scheme ws or wss.
  func socketURL(_ path: String = "/") throws -> URL {
    try #require(URL(string: "ws" + url.dropFirst(4) + path))
  }
}

extension URLSessionWebSocketTask.Message {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var data: Data? { if case .data(let data) = self { data } else { nil } }
}

/// Calls `body` with a server whose connections `handler` serves, and then stops the server.
func withSocketServer<Value>(
  tls: ServerIdentity? = nil, _ handler: @escaping @Sendable (Peer) throws -> Void,
  _ body: (OriginServer) async throws -> Value
) async throws -> Value {
  let origin = try OriginServer(tls: tls, handler: handler)
  defer { origin.stop() }
  return try await body(origin)
}

/// Echoes the messages of a WebSocket connection.
func echoMessages(_ peer: Peer) throws { try ServerSocket(peer)?.echo() }
