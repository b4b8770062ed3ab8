// StubSocketTests: stubs that answer WebSocket tasks and requests.

import Foundation
import Lupine
import LupineTestSupport
import LupineTesting
import LupineURLSession
import Testing

@Suite("WebSocket stubs", .timeLimit(.minutes(10)))
struct StubSocketTests {
  private let stubs = Stubs()

  private func withTask(
    _ url: String = "wss://api.example.com/chat?a=b", protocols: [String] = [], delegate: SocketDelegate? = nil,
    _ body: (URLSessionWebSocketTask) async throws -> Void
  ) async throws {
    let session = URLSession(configuration: stubs.configuration(), delegate: delegate, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let task = session.webSocketTask(with: try #require(URL(string: url)), protocols: protocols)
    task.resume()
    try await body(task)
  }

  private static let echo = StubReply.webSocket { socket in
    for await message in socket.messages { socket.send(message) }
  }

  @Test("a stub exchanges messages of any length with a task, answers pings, and learns the code of the client")
  func conversation() async throws {
    let (delegate, closes) = (SocketDelegate(), Recorder<StubSocket.ClientClose?>())
    stubs.reply(
      to: .get("/chat").query("a", "b").header("Sec-WebSocket-Version", "13"),
      with: .webSocket(protocol: "v2") { socket in
        #expect(socket.request.url?.scheme == "wss")
        for await message in socket.messages { socket.send(message) }
        closes.record(socket.clientClose)
      })
    try await withTask(protocols: ["v1", "v2"], delegate: delegate) { task in
      try await task.send(.string("é"))
      #expect(try await task.receive().text == "é")
      for count in [0, 125, 126, 65_535, 65_536, 300_000] {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        try await task.send(.data(data))
        #expect(try await task.receive().data == data)
      }
      try await task.sendPing()
      task.cancel(with: .goingAway, reason: Data("bye".utf8))
      #expect(await delegate.events.first(4) == ["open v2", "close 1001 bye", "metrics 1", "end -"])
      #expect(await closes.next() == StubSocket.ClientClose(code: .goingAway, reason: "bye"))
      #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
      #expect(stubs.requests.map(\.description) == ["GET wss://api.example.com/chat?a"])
    }
  }

  @Test("a stub can close the connection with a code or lose it, after the messages that it has sent")
  func endings() async throws {
    let code = try #require(URLSessionWebSocketTask.CloseCode(rawValue: 4001))
    stubs.reply(
      to: .any,
      with: .webSocket { socket in
        socket.send(.string("last"))
        socket.close(code, reason: "over")
        socket.send(.string("after the end"))
      }, .webSocket { $0.disconnect() }, .webSocket { _ in })
    for expected in [["close 4001 over", "metrics 1", "end -"], ["metrics 1", "end URL -1005"], ["close 1000 -"]] {
      let delegate = SocketDelegate()
      try await withTask(delegate: delegate) { task in
        if expected[0] == "close 4001 over" {
          let message = try await task.receive()
          #expect(message.text == "last")
        }
        #expect(await delegate.events.first(1 + expected.count) == ["open -"] + expected)
        await #expect(throws: (any Error).self) { try await task.receive() }
      }
    }
  }

  @Test("a task that is canceled ends the messages of its stub")
  func cancellation() async throws {
    let ended = Recorder<StubSocket.ClientClose?>()
    let delegate = SocketDelegate()
    stubs.reply(
      to: .any,
      with: .webSocket { socket in
        for await _ in socket.messages {}
        ended.record(socket.clientClose)
      })
    try await withTask(delegate: delegate) { task in
      #expect(await delegate.events.next() == "open -")
      task.cancel()
      #expect(await ended.next() == .some(nil))
      #expect(await delegate.events.first(2) == ["metrics 1", "end URL -999"])
    }
  }

  @Test("a handshake fails with a status, a subprotocol that wasn't offered, or no rule, and follows redirects")
  func handshakes() async throws {
    stubs.reply(to: .get("/refused"), with: .status(403))
    stubs.reply(to: .get("/other"), with: .webSocket(protocol: "other") { _ in })
    stubs.reply(to: .get("/relative"), with: .redirect(to: "/chat"))
    stubs.reply(to: .get("/absolute"), with: .redirect(to: "wss://api.example.com/chat"))
    stubs.reply(to: .get("/downgrade"), with: .redirect(to: "ws://api.example.com/chat"))
    stubs.reply(to: .get("/chat"), with: Self.echo)
    for path in ["refused", "other", "unknown", "downgrade"] {
      try await withTask("wss://api.example.com/\(path)") { task in
        await #expect(throws: (any Error).self, "\(path)") { try await task.receive() }
      }
    }
    for path in ["relative", "absolute"] {
      try await withTask("wss://api.example.com/\(path)") { task in
        try await task.send(.string("x"))
        #expect(try await task.receive().text == "x")
      }
    }
  }

  @Test("a WebSocket reply to another request has the status 426")
  func upgradeRequired() async throws {
    stubs.reply(to: .any, with: Self.echo)
    let session = URLSession(configuration: stubs.configuration())
    defer { session.invalidateAndCancel() }
    let (_, response) = try await session.data(from: try #require(URL(string: "https://api.example.com/chat")))
    #expect((response as? HTTPURLResponse)?.statusCode == 426)
  }

  @Test("Alamofire's WebSocket requests use stubs, also for retries")
  func request() async throws {
    stubs.reply(to: .get("/chat"), with: .status(503), Self.echo)
    let session = Session(configuration: stubs.configuration(from: .af.ephemeral))
    let interceptor = Interceptor(
      adaptHandler: { request, _, completion in completion(.success(request)) },
      retryHandler: { request, _, _, completion in completion(request.retryCount == 0 ? .retry : .doNotRetry) })
    let request = session.webSocketRequest(to: "ws://api.example.com/chat", interceptor: interceptor)
    let socket = request.webSocketTask()
    var kinds: [String] = []
    for await event in socket.streamingMessageEvents() {
      switch event.kind {
      case .connected:
        kinds.append("connected")
        try await socket.send(.string("hello"))
      case .receivedMessage(let message):
        kinds.append(message.text ?? "-")
        socket.close(sending: .normalClosure)
      case .serializerFailed: kinds.append("failed")
      case .disconnected(let code, _): kinds.append("\(code.rawValue)")
      case .completed(let completion): kinds.append(completion.error.map { "\($0)" } ?? "completed")
      }
    }
    #expect(kinds == ["connected", "hello", "1000", "completed"])
    #expect(stubs.requests.count == 2)
  }

  @Test("a URLProtocol of the program isn't asked about WebSocket tasks")
  func otherProtocols() async throws {
    final class All: URLProtocol, @unchecked Sendable {
      override class func canInit(with request: URLRequest) -> Bool { true }
      override class func canInit(with task: URLSessionTask) -> Bool { true }
      override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.unknown)) }
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [All.self]
    try await withSocketServer(echoMessages) { origin in
      let session = URLSession(configuration: configuration)
      defer { session.invalidateAndCancel() }
      let task = session.webSocketTask(with: try origin.socketURL())
      task.resume()
      try await task.send(.string("x"))
      #expect(try await task.receive().text == "x")
    }
  }
}
