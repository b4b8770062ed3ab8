// WebSocketOpeningTests: the opening handshake of WebSocket tasks: subprotocols, redirects, challenges, proxies and refusals.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite("Opening handshakes of WebSocket tasks", .timeLimit(.minutes(10)))
struct WebSocketOpeningTests {
  @Test("subprotocols are offered in a parameter or in the request's field, and the delegate learns the choice")
  func subprotocols() async throws {
    let delegate = SocketDelegate()
    let offers = Recorder<String?>()
    try await withSocketServer { peer in
      let socket = try ServerSocket(peer, fields: ["Sec-WebSocket-Protocol": "chat"])
      offers.record(socket?.request.fields.first("Sec-WebSocket-Protocol"))
      try socket?.echo()
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        var request = URLRequest(url: try origin.socketURL())
        request.setValue("chat,superchat", forHTTPHeaderField: "Sec-WebSocket-Protocol")
        for task in [
          session.webSocketTask(with: try origin.socketURL(), protocols: ["superchat", "chat"]),
          session.webSocketTask(with: request),
        ] {
          task.resume()
          #expect(await delegate.events.next() == "open chat")
          task.cancel(with: .normalClosure, reason: nil)
          #expect(await delegate.events.first(3) == ["close 1000 -", "metrics 1", "end -"])
        }
        #expect(await offers.first(2) == ["superchat, chat", "chat, superchat"])
        // The server's choice wasn't offered.
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        #expect(await code { try await task.receive() } == .badServerResponse)
        #expect(
          await delegate.events.first(2) == ["metrics 1", "end URL \(URLError.badServerResponse.rawValue)"])
        #expect(task.closeCode == .invalid)
      }
    }
  }

  @Test("redirects are followed and challenges answered before the upgrade, with cookies, and all are in the metrics")
  func beforeTheUpgrade() async throws {
    let delegate = SocketDelegate()
    let seen = Recorder<String>()
    try await withSocketServer { peer in
      while let request = try peer.readHead() {
        let cookie = request.fields.first("Cookie") ?? "-"
        seen.record("\(request.path) \(cookie) \(request.fields.contains("Authorization"))")
        switch request.path {
        case "/start": try peer.respond(status: 302, fields: ["Location": "/http", "Set-Cookie": "a=1; Path=/"])
        case "/http":
          let host = request.fields.first("Host") ?? ""
          try peer.respond(status: 307, fields: ["Location": "ws://\(host)/private", "Set-Cookie": "b=2; Path=/"])
        case "/private" where !request.fields.contains("Authorization"):
          try peer.respond(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: Array("no".utf8))
        default: return try ServerSocket(peer, answering: request).echo()
        }
      }
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL("/start"))
        task.resume()
        try await task.send(.string("hello"))
        #expect(try await task.receive().text == "hello")
        #expect(
          await seen.first(4) == [
            "/start - false", "/http a=1 false", "/private a=1; b=2 false", "/private a=1; b=2 true",
          ])
        #expect(task.currentRequest?.url == (try origin.socketURL("/private")))
        task.cancel(with: .normalClosure, reason: nil)
        #expect(
          await delegate.events.first(7) == [
            "redirect http", "redirect ws", "challenge", "open -", "close 1000 -", "metrics 4", "end -",
          ])
      }
    }
  }

  @Test("a redirect from wss to ws is refused, unless the delegate chooses another URL")
  func downgrade() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withSocketServer(echoMessages) { plain in
      let target = try plain.socketURL("/plain").absoluteString
      try await withSocketServer(tls: identity) { peer in
        guard try peer.readHead() != nil else { return }
        try peer.respond(status: 302, fields: ["Location": target])
      } _: { origin in
        let delegate = SocketDelegate()
        try await withSession(delegate: delegate) {
          $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        } _: { session in
          let task = session.webSocketTask(with: try origin.socketURL())
          task.resume()
          // If the redirect were followed, the server would send this message back, so that `receive` would succeed.
          task.send(.string("echo")) { _ in }
          await #expect(throws: URLError.self) { try await task.receive() }
          #expect(await delegate.events.next() == "redirect ws")
          #expect(plain.requestCount == 0)
        }
      }
    }
  }

  @Test("an HTTP proxy opens a tunnel also to a ws URL, with its credentials")
  func proxy() async throws {
    let requests = Recorder<String>()
    try await withSocketServer(echoMessages) { origin in
      let proxy = try OriginServer { peer in
        guard let request = try peer.readHead() else { return }
        requests.record("\(request.method) \(request.target) \(request.fields.first("Proxy-Authorization") ?? "-")")
        try peer.send("HTTP/1.1 200 OK\r\n\r\n")
        try ServerSocket(peer)?.echo()
      }
      defer { proxy.stop() }
      try await withSession {
        $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port)]
      } _: { session in
        let task = session.webSocketTask(with: try #require(URL(string: "ws://example.test:81/chat")))
        task.resume()
        try await task.send(.string("through"))
        #expect(try await task.receive().text == "through")
        #expect(await requests.next() == "CONNECT example.test:81 -")
        task.cancel(with: .normalClosure, reason: nil)
      }
    }
  }

  @Test("a wss URL uses TLS, and compressed messages are exchanged")
  func encrypted() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withSocketServer(tls: identity) { peer in
      try ServerSocket(peer, fields: ["Sec-WebSocket-Extensions": "permessage-deflate"])?.echo()
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        let text = String(repeating: "compressed ", count: 10_000)
        try await task.send(.string(text))
        #expect(try await task.receive().text == text)
        // The client's frame is shorter than its content, and so is the server's.
        #expect(task.countOfBytesReceived < 2000)
        task.cancel(with: .normalClosure, reason: nil)
      }
    }
  }

  @Test(
    "a URL with another scheme, another method, a body or a background session is refused",
    arguments: ["http://127.0.0.1:1/", "https://127.0.0.1:1/", "file:///", "POST"])
  func refused(_ kind: String) async throws {
    try await withSession { session in
      var request = URLRequest(url: try #require(URL(string: kind == "POST" ? "ws://127.0.0.1:1/" : kind)))
      if kind == "POST" { request.httpMethod = kind }
      let task = session.webSocketTask(with: request)
      task.resume()
      #expect(await code { try await task.receive() } == .unsupportedURL)
      #expect(await settles { task.state == .completed })
      #expect((task.error as? URLError)?.code == .unsupportedURL)
      // A data task can't use the scheme.
      let url = try #require(URL(string: "ws://127.0.0.1:1/"))
      #expect(await code { try await session.data(from: url) } == .unsupportedURL)
    }
  }

  @Test("a response other than 101 fails the task with badServerResponse", arguments: [200, 404, 426])
  func status(_ status: Int) async throws {
    try await withSocketServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.respond(status: status, body: Array("no".utf8))
    } _: { origin in
      try await withSession { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        await #expect { try await task.receive() } throws: { error in
          (error as? URLError)?.code == .badServerResponse && error.localizedDescription.contains("\(status)")
        }
        #expect((task.response as? HTTPURLResponse)?.statusCode == status)
      }
    }
  }
}
