// WebSocketRequestTests: WebSocketRequest with its handlers, events, sequences, pings and retries.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite("WebSocket requests", .timeLimit(.minutes(10)))
struct WebSocketRequestTests {
  private struct Value: Codable, Equatable, Sendable {
    var number: Int
  }

  private func withSocketServer<Result>(
    _ handler: @escaping @Sendable (Peer) throws -> Void, _ body: (String) async throws -> Result
  ) async throws -> Result {
    let origin = try OriginServer(handler: handler)
    defer { origin.stop() }
    return try await body("ws" + origin.url.dropFirst(4) + "/")
  }

  /// Returns a text that describes an event.
  private static func name<Success, Failure: Error>(_ event: WebSocketRequest.Event<Success, Failure>) -> String {
    switch event.kind {
    case .connected(let subprotocol): "connected \(subprotocol ?? "-")"
    case .receivedMessage(let message): "message \(message)"
    case .serializerFailed: "failed"
    case .disconnected(let code, let reason):
      "disconnected \(code.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")"
    case .completed(let completion): "completed \(completion.error.map { "\($0)" } ?? "-")"
    }
  }

  @Test("the events of a request are delivered in order, and closing ends it without an error")
  func events() async throws {
    try await withSocketServer { peer in
      try ServerSocket(peer, fields: ["Sec-WebSocket-Protocol": "chat"])?.echo()
    } _: { url in
      try await withSession { session in
        let request = session.webSocketRequest(to: url, configuration: .protocol("chat"))
        let events = Recorder<String>()
        let sent = Recorder<Bool>()
        request.send(.string("early")) { if case .success = $0 { sent.record(true) } else { sent.record(false) } }
        request.streamMessageEvents { event in events.record(Self.name(event)) }
        #expect(await events.first(2) == ["connected chat", "message string(\"early\")"])
        #expect(await sent.next() == true)
        request.close(sending: .goingAway, reason: Data("bye".utf8))
        #expect(await events.first(2) == ["disconnected 1001 bye", "completed -"])
        #expect(request.isCancelled && request.error == nil && request.metrics != nil)
        #expect(request.response?.statusCode == 101)
        request.send(.string("late")) { if case .success = $0 { sent.record(true) } else { sent.record(false) } }
        #expect(await sent.next() == false)
      }
    }
  }

  @Test("cancel ends a request with explicitlyCancelled and without a Close frame, also before its task exists")
  func cancelled() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      frames.record(try? ServerSocket(peer)?.next())
    } _: { url in
      try await withSession { session in
        let events = Recorder<String>()
        let request = session.webSocketRequest(to: url).streamMessageEvents { event in
          events.record(Self.name(event))
          if case .connected = event.kind { event.cancel() }
        }
        #expect(await events.first(2) == ["connected -", "completed \(AFError.explicitlyCancelled)"])
        #expect(await frames.next() == .some(nil))
        #expect(request.isCancelled)
        let unsent = session.webSocketRequest(to: url, shouldAutomaticallyResume: false)
        let sent = Recorder<Bool>()
        unsent.send(.string("x")) { if case .success = $0 { sent.record(true) } else { sent.record(false) } }
        unsent.cancel()
        #expect(await sent.next() == false)
      }
    }
  }

  @Test("messages are decoded from text and binary JSON, and one that can't be decoded doesn't end the request")
  func decoding() async throws {
    try await withSocketServer { peer in
      let binary = ServerFrame(2, Array(#"{"number":2}"#.utf8))
      let socket = try ServerSocket(peer, then: [.text(#"{"number":1}"#), .text("no"), binary, .close(1000)])
      _ = try socket?.next()
    } _: { url in
      try await withSession { session in
        let (events, values) = (Recorder<String>(), Recorder<Value>())
        session.webSocketRequest(to: url)
          .streamDecodableEvents(Value.self) { events.record(Self.name($0)) }
          .streamDecodable(Value.self) { values.record($0) }
        #expect(
          await events.first(6) == [
            "connected -", "message Value(number: 1)", "failed", "message Value(number: 2)", "disconnected 1000 -",
            "completed -",
          ])
        #expect(await values.first(2) == [Value(number: 1), Value(number: 2)])
        let serialized = Recorder<String>()
        session.webSocketRequest(to: url).streamSerializer(.json(decoding: Value.self)) {
          serialized.record(Self.name($0))
        }
        #expect(await serialized.first(2) == ["connected -", "message Value(number: 1)"])
      }
    }
  }

  @Test("a slow handler delays the next message, so that the server has to wait")
  func backpressure() async throws {
    let total = 2000
    let sentCount = Atomic(0)
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      for number in 0..<total {
        try socket.send(ServerFrame(2, [UInt8](repeating: 0, count: 16 * 1024)))
        sentCount.store(number + 1, ordering: .relaxed)
      }
      try socket.echo()
    } _: { url in
      try await withSession { session in
        let mayContinue = Gate()
        let received = Recorder<Int>()
        let request = session.webSocketRequest(to: url).streamMessages(on: .global()) { message in
          mayContinue.waitBlocking()
          if case .data(let data) = message { received.record(data.count) }
        }
        var before = -1
        #expect(
          await settles(every: .milliseconds(100)) {
            let now = sentCount.load(ordering: .relaxed)
            defer { before = now }
            return now > 0 && now == before
          })
        #expect(sentCount.load(ordering: .relaxed) < total)
        mayContinue.open()
        #expect(await received.first(total).allSatisfy { $0 == 16 * 1024 })
        request.cancel()
      }
    }
  }

  @Test("messages that arrive together with the end reach a slow handler before it", arguments: [true, false])
  func end(isClosed: Bool) async throws {
    let count = 100
    let hasEnded = Gate()
    try await withSocketServer { peer in
      let frames = (0..<count).map { ServerFrame.text("\($0)") }
      guard let socket = try ServerSocket(peer, then: frames + (isClosed ? [.close(1001, "over")] : [])) else { return }
      if isClosed { _ = try socket.next() }
      hasEnded.open()
    } _: { url in
      try await withSession { session in
        let events = Recorder<String>()
        session.webSocketRequest(to: url).streamMessageEvents(on: .global()) { event in
          hasEnded.waitBlocking()
          if case .completed(let completion) = event.kind {
            events.record("completed \((completion.error?.underlyingError as? URLError)?.code.rawValue ?? 0)")
          } else {
            events.record(Self.name(event))
          }
        }
        let messages = (0..<count).map { "message string(\"\($0)\")" }
        let end = isClosed ? ["disconnected 1001 over", "completed 0"] : ["completed -1005"]
        #expect(await events.first(count + 1 + end.count) == ["connected -"] + messages + end)
      }
    }
  }

  @Test("the sequences deliver messages and events, and leaving the loop cancels the request")
  func sequences() async throws {
    let closed = Recorder<Bool>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [.text("1"), .text(#"{"number":2}"#)]) else { return }
      try? socket.echo()
      closed.record(true)
    } _: { url in
      try await withSession { session in
        let task = session.webSocketRequest(to: url).webSocketTask()
        var texts: [String] = []
        for await message in task.streamingMessages() {
          if case .string(let text) = message { texts.append(text) }
          if texts.count == 2 { try await task.send(.string("3")) }
          if texts.count == 3 { break }
        }
        #expect(texts == ["1", #"{"number":2}"#, "3"])
        #expect(await closed.next() == true)
        let second = session.webSocketRequest(to: url).webSocketTask()
        var events: [String] = []
        for await event in second.streamingMessageEvents() {
          events.append(Self.name(event))
          if events.count == 3 { second.close(sending: .normalClosure) }
        }
        #expect(
          events == [
            "connected -", "message string(\"1\")", #"message string("{\"number\":2}")"#, "disconnected 1000 -",
            "completed -",
          ])
        for await value in session.webSocketRequest(to: url).webSocketTask().streamingDecodable(Value.self) {
          #expect(value == Value(number: 2))
          break
        }
      }
    }
  }

  @Test("a task's first message opens the connection, and the first loop receives everything from the start")
  func sendingFirst() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), let first = try socket.next() else { return }
      try socket.send(.text("hello"), ServerFrame(1, first.payload))
      try socket.echo()
    } _: { url in
      try await withSession { session in
        let task = session.webSocketRequest(to: url).webSocketTask()
        try await task.send(.string("first"))
        try await task.send(.string("second"))
        var events: [String] = []
        for await event in task.streamingMessageEvents() {
          events.append(Self.name(event))
          if events.count == 4 { task.close(sending: .normalClosure) }
        }
        #expect(
          events == [
            "connected -", "message string(\"hello\")", "message string(\"first\")", "message string(\"second\")",
            "disconnected 1000 -", "completed -",
          ])
      }
    }
  }

  @Test("a task's first message fails if the connection can't be opened, and the first loop receives the completion")
  func sendingInVain() async throws {
    let closed = try OriginServer { _ in }
    closed.stop()
    try await withSession { session in
      let task = session.webSocketRequest(to: "ws" + closed.url.dropFirst(4)).webSocketTask()
      await #expect(throws: (any Error).self) { try await task.send(.string("first")) }
      var count = 0
      for await event in task.streamingMessageEvents() {
        if case .completed(let completion) = event.kind, completion.error != nil { count += 1 }
      }
      #expect(count == 1)
    }
  }

  @Test("a ping reports its latency, or that it wasn't sent or answered")
  func pings() async throws {
    let mayClose = Gate()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), let ping = try socket.next() else { return }
      try socket.send(ServerFrame(10, ping.payload))
      _ = try socket.next()
      mayClose.open()
    } _: { url in
      try await withSession { session in
        let responses = Recorder<String>()
        let respond: @Sendable (WebSocketRequest.PingResponse) -> Void = { response in
          switch response {
          case .pong(let pong): responses.record(pong.latency >= 0 && pong.start <= pong.end ? "pong" : "wrong")
          case .error: responses.record("error")
          case .unsent: responses.record("unsent")
          }
        }
        let request = session.webSocketRequest(to: url)
        request.sendPing(onResponse: respond)
        #expect(await responses.next() == "unsent")
        request.streamMessageEvents { event in
          if case .connected = event.kind { event.sendPing(onResponse: respond) }
        }
        #expect(await responses.next() == "pong")
        request.sendPing(onResponse: respond)
        await mayClose.wait()
        #expect(await responses.next() == "error")
      }
    }
  }

  @Test("adapters change the handshake's request, and a retrier opens another connection after a failure")
  func interceptors() async throws {
    let requests = Recorder<String>()
    try await withSocketServer { peer in
      guard let request = try peer.readHead() else { return }
      requests.record("\(request.target) \(request.fields.first("X-Adapted") ?? "-")")
      guard request.fields.first("X-Adapted") == "2" else { return try peer.respond(status: 503) }
      try ServerSocket(peer, answering: request, then: [.text("hello"), .close(1000)]).echo()
    } _: { url in
      try await withSession { session in
        let count = Atomic(0)
        let interceptor = Interceptor(
          adaptHandler: { request, _, completion in
            var request = request
            let number = count.add(1, ordering: .relaxed).newValue
            request.setValue("\(number)", forHTTPHeaderField: "X-Adapted")
            completion(.success(request))
          }, retryHandler: { request, _, _, completion in completion(request.retryCount == 0 ? .retry : .doNotRetry) })
        let events = Recorder<String>()
        let request = session.webSocketRequest(
          to: url, parameters: ["a": "b"], headers: ["X-Own": "1"], interceptor: interceptor
        ).streamMessageEvents { events.record(Self.name($0)) }
        #expect(
          await events.first(4) == [
            "connected -", "message string(\"hello\")", "disconnected 1000 -", "completed -",
          ])
        #expect(await requests.first(2) == ["/?a=b 1", "/?a=b 2"])
        #expect(request.retryCount == 1 && request.tasks.count == 2)
      }
    }
  }

  @Test("the request's credential answers a challenge of the server during the handshake")
  func credential() async throws {
    try await withSocketServer { peer in
      while let request = try peer.readHead() {
        if request.fields.first("Authorization") == "Basic dTpw" {
          return try ServerSocket(peer, answering: request, then: [.text("in"), .close(1000)]).echo()
        }
        try peer.respond(status: 401, fields: ["WWW-Authenticate": #"Basic realm="r""#])
      }
    } _: { url in
      try await withSession { session in
        let events = Recorder<String>()
        session.webSocketRequest(to: url).authenticate(username: "u", password: "p")
          .streamMessageEvents { events.record(Self.name($0)) }
        #expect(
          await events.first(4) == ["connected -", "message string(\"in\")", "disconnected 1000 -", "completed -"])
      }
    }
  }

  @Test("a message that is too long fails the request, and so does a URL with another scheme")
  func failures() async throws {
    try await withSocketServer { peer in
      let socket = try ServerSocket(peer, then: [ServerFrame(2, [1, 2, 3])])
      _ = try socket?.next()
    } _: { url in
      try await withSession { session in
        let events = Recorder<AFError?>()
        session.webSocketRequest(to: url, configuration: .maximumMessageSize(2)).streamMessageEvents { event in
          if case .completed(let completion) = event.kind { events.record(completion.error) }
        }
        let error = await events.next() ?? nil
        #expect((error?.underlyingError as? POSIXError)?.code == .EMSGSIZE)
        session.webSocketRequest(to: "http://127.0.0.1:1/").streamMessageEvents { event in
          if case .completed(let completion) = event.kind { events.record(completion.error) }
        }
        let refused = await events.next() ?? nil
        #expect((refused?.underlyingError as? URLError)?.code == .unsupportedURL)
      }
    }
  }
}
