// WebSocketTests: WebSocket tasks and requests with the packages websockets and aiohttp, also through nginx and proxies.

import Foundation
import Lupine
import LupineEngine
import LupineTestSupport
import LupineURLSession
import Testing

@Suite("WebSocket of real servers", .timeLimit(.minutes(10)))
struct WebSocketTests {
  /// A server that has the pages of `servers ports`, and the path before them.
  struct Place: Sendable, CustomTestStringConvertible {
    let server: TestServer
    var path = ""
    var proxy: TestServer?

    var testDescription: String { "\(server)\(path)" + (proxy.map { " by \($0)" } ?? "") }
  }

  private static let places = [
    Place(server: .websockets), Place(server: .websocketsTLS), Place(server: .aiohttpSockets),
    Place(server: .nginx, path: "/sockets"), Place(server: .nginxTLS, path: "/sockets"),
    Place(server: .websockets, proxy: .squid), Place(server: .websocketsTLS, proxy: .squid),
    Place(server: .websockets, proxy: .socks),
  ]

  private func configuration(_ place: Place) throws -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    configuration.engine.proxy = .none
    if let proxy = place.proxy {
      try proxy.require()
      configuration.engine.proxy = .fixed(
        try Proxy(proxy == .socks ? .socks5h : .http, host: "127.0.0.1", port: proxy.rawValue))
    }
    return configuration
  }

  private func url(_ place: Place, _ page: String) async throws -> URL {
    try #require(URL(string: "ws" + (try await place.server.url(place.path + page)).dropFirst(4)))
  }

  private func withTask(
    _ place: Place, _ page: String, protocols: [String] = [], _ body: (URLSessionWebSocketTask) async throws -> Void
  ) async throws {
    let session = URLSession(configuration: try configuration(place))
    defer { session.invalidateAndCancel() }
    let task = session.webSocketTask(with: try await url(place, page), protocols: protocols)
    task.resume()
    try await body(task)
  }

  @Test("messages of all sizes are echoed, compressed or not, with a subprotocol", arguments: places)
  func echo(_ place: Place) async throws {
    try await withTask(place, "/echo", protocols: ["v3", "v2"]) { task in
      for size in [0, 1, 125, 126, 1000, 65_535, 65_536, 300_000] {
        let text = String(decoding: (0..<size).map { UInt8(97 + $0 % 26) }, as: UTF8.self)
        let random = Data((0..<size).map { _ in UInt8.random(in: 0...255) })
        async let first = task.receive()
        async let second = task.receive()
        try await task.send(.string(text))
        try await task.send(.data(random))
        var received: [Data] = []
        for message in [try await first, try await second] {
          switch message {
          case .string(let string): received.append(Data(string.utf8))
          case .data(let data): received.append(data)
          }
        }
        #expect(Set(received) == [Data(text.utf8), random])
      }
      try await task.sendPing()
      let response = try #require(task.response as? HTTPURLResponse)
      #expect(response.statusCode == 101)
      #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "v2")
      #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Extensions")?.hasPrefix("permessage-deflate") == true)
      task.cancel(with: .normalClosure, reason: nil)
      await #expect(throws: (any Error).self) { try await task.receive() }
      #expect(await settles { task.state == .completed })
      #expect(task.error == nil && task.closeCode == .normalClosure)
    }
  }

  @Test("the server's Close frame, a reset and a ping arrive after the messages before them", arguments: places)
  func endings(_ place: Place) async throws {
    try await withTask(place, "/close") { task in
      guard case .string("last") = try await task.receive() else { return #expect(Bool(false)) }
      #expect(await settles { task.state == .completed })
      #expect(task.closeCode.rawValue == 4000 && task.closeReason == Data("bye".utf8) && task.error == nil)
    }
    try await withTask(place, "/ping") { task in
      guard case .string("pong") = try await task.receive() else { return #expect(Bool(false)) }
    }
    // A reset may discard the message.
    try await withTask(place, "/abort") { task in
      await #expect(throws: (any Error).self) {
        _ = try await task.receive()
        _ = try await task.receive()
      }
      #expect(await settles { task.state == .completed })
      #expect(task.closeCode == .abnormalClosure)
      #expect((task.error as? URLError)?.code == .networkConnectionLost)
    }
  }

  @Test("a handshake follows redirects, sends credentials, and fails with the status of the server", arguments: places)
  func handshakes(_ place: Place) async throws {
    try await withTask(place, "/redirect") { task in
      // nginx doesn't rewrite the location, so its redirect leads to a page without WebSocket.
      guard place.path.isEmpty else {
        await #expect(throws: (any Error).self) { try await task.receive() }
        return
      }
      try await task.send(.string("redirected"))
      guard case .string("redirected") = try await task.receive() else { return #expect(Bool(false)) }
    }
    try await withTask(place, "/missing") { task in
      await #expect { try await task.receive() } throws: { ($0 as? URLError)?.code == .badServerResponse }
      #expect((task.response as? HTTPURLResponse)?.statusCode == 404)
    }
    let session = Session(configuration: try configuration(place))
    let request = session.webSocketRequest(to: try await url(place, "/login")).authenticate(
      username: "user", password: "pass")
    var texts: [String] = []
    let task = request.webSocketTask()
    for await event in task.streamingMessageEvents() {
      switch event.kind {
      case .connected: try await task.send(.string("in"))
      case .receivedMessage(.string(let text)):
        texts.append(text)
        task.close(sending: .normalClosure)
      default: break
      }
    }
    #expect(texts == ["in"] && request.error == nil)
  }

  @Test("300 messages of 64 KiB arrive in order at a slow handler, and then the Close frame", arguments: places)
  func many(_ place: Place) async throws {
    let session = Session(configuration: try configuration(place))
    let events = Recorder<Int>()
    session.webSocketRequest(to: try await url(place, "/many")).streamMessageEvents(on: .global()) { event in
      switch event.kind {
      case .receivedMessage(.data(let data)): events.record(data.count == 65_536 ? Int(data.first ?? 0) : -1)
      case .disconnected(let code, _): events.record(code.rawValue)
      case .completed(let completion): events.record(completion.error == nil ? 0 : -2)
      default: break
      }
    }
    #expect(await events.first(302) == (0..<300).map { $0 & 0xFF } + [1000, 0])
  }
}
