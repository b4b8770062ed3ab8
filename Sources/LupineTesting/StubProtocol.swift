// StubProtocol: the URLProtocol through which stubs answer requests.

import Dispatch
import Foundation
import LupineURLSession
import Synchronization

// Unchecked because its superclass is open. All state is protected by the Mutex.
/// The URLProtocol that answers the requests of sessions whose configuration has stubs.
final class StubProtocol: URLProtocol, WebSocketProtocol, @unchecked Sendable {
  private let isStopped = Mutex(false)
  private let socket = Mutex<StubSocket?>(nil)
  private let queue = DispatchQueue(label: "lupine.testing.stub")

  override class func canInit(with request: URLRequest) -> Bool { false }

  override class func canInit(with task: URLSessionTask) -> Bool { task.protocolContext is Stubs }

  override func startLoading() {
    guard let stubs = task?.protocolContext as? Stubs else { return }
    do {
      let recorded = try RecordedRequest(task is URLSessionWebSocketTask ? self.request.inWebSocketForm : self.request)
      let request = recorded.withBodyInMemory(self.request)
      let reply = try stubs.answer(recorded)
      if reply.delay <= .zero {
        send(reply, to: request, recorded)
      } else {
        queue.asyncAfter(deadline: .after(reply.delay / .seconds(1))) { [weak self] in
          self?.send(reply, to: request, recorded)
        }
      }
    } catch {
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  override func stopLoading() {
    isStopped.withLock { $0 = true }
    socket.withLock { $0.take() }?.end()
  }

  private func send(_ reply: StubReply, to request: URLRequest, _ recorded: RecordedRequest) {
    guard !isStopped.withLock({ $0 }), let client, let url = request.url else { return }
    if let webSocket = reply.webSocket, let task = task as? URLSessionWebSocketTask {
      return accept(webSocket, task, request, recorded, client)
    }
    if reply.hasResponse {
      var fields = reply.headerFields
      if case .complete = reply.ending, !fields.keys.contains(where: { $0.lowercased() == "content-length" }) {
        fields["Content-Length"] = "\(reply.body.count)"
      }
      guard
        let response = HTTPURLResponse(
          url: url, statusCode: reply.status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return client.urlProtocol(self, didFailWithError: URLError(.badServerResponse)) }
      if reportRedirect(of: request, by: response, body: reply.body) { return }
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      for piece in reply.pieces { client.urlProtocol(self, didLoad: piece) }
    }
    switch reply.ending {
    case .complete: client.urlProtocolDidFinishLoading(self)
    case .failure(let error): client.urlProtocol(self, didFailWithError: error)
    }
  }
  private func accept(
    _ webSocket: StubReply.WebSocket, _ task: URLSessionWebSocketTask, _ request: URLRequest,
    _ recorded: RecordedRequest, _ client: any URLProtocolClient
  ) {
    let fields = URLSessionWebSocketTask.acceptingFields(for: request, subprotocol: webSocket.subprotocol)
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 101, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return client.urlProtocol(self, didFailWithError: URLError(.badServerResponse)) }
    client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    let socket = StubSocket(
      recorded, deliver: { client.urlProtocol(self, didLoad: Data($0)) },
      finish: { client.urlProtocolDidFinishLoading(self) })
    self.socket.withLock { $0 = socket }
    socket.begin(with: task)
    Task {
      await webSocket.serve(socket)
      socket.close()
    }
  }
}
