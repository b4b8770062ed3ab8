// WebSocketChannelTests: WebSocket connections over the engine: handshakes, messages, and backpressure in both directions.

import Dispatch
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineWebSocket
import Synchronization
import Testing

@Suite("WebSocket over the engine", .timeLimit(.minutes(10)))
struct WebSocketChannelTests {
  private typealias Ending = WebSocketChannel.Ending

  // MARK: The handshake

  @Test("messages sent before the handshake arrive after it, and messages directly after the 101 are received")
  func early() async throws {
    try await withSocketServer { peer in
      try ServerSocket(peer, then: [.text("first"), .text("second")])?.echo()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      client.channel.send(.text("early")) { #expect($0 == nil) }
      #expect(await client.heads.next() == .success(WebSocketAgreement()))
      for text in ["first", "second", "early"] { #expect(await client.receive() == .success(.text(text))) }
      #expect(await client.ping() == nil)
      client.channel.close(WebSocketClose(.normal, reason: Array("bye".utf8)))
      #expect(await client.endings.next() == .closed(WebSocketClose(.normal, reason: Array("bye".utf8))))
      #expect(await client.ends.next() == .some(nil))
    }
  }

  @Test("the request has the fields of the handshake, a new key each time, and no other fields of an earlier protocol")
  func request() async throws {
    let requests = Recorder<ReceivedRequest>()
    try await withSocketServer { peer in
      guard let request = try peer.readHead() else { return }
      requests.record(request)
      try peer.respond(status: 400)
    } _: { origin, engine in
      for _ in 0..<2 {
        let client = try SocketClient(engine, origin.url, subprotocols: ["a", "b"], deflate: DeflateOffer())
        #expect(await client.heads.next() == .failure(.status(400)))
        #expect(await client.receive() == .failure(.lost))
      }
      let received = await requests.first(2)
      #expect(Set(received.map { $0.fields.first("Sec-WebSocket-Key") }).count == 2)
      #expect(received.allSatisfy { $0.fields.first("Sec-WebSocket-Key")?.utf8.count == 24 })
      #expect(received[0].fields.first("Sec-WebSocket-Protocol") == "a, b")
      #expect(received[0].fields.first("Sec-WebSocket-Version") == "13")
      #expect(!received[0].fields.contains("Content-Length") && !received[0].fields.contains("Transfer-Encoding"))
    }
  }

  @Test("a 101 that doesn't prove that the server read the key closes the connection")
  func wrongAccept() async throws {
    let closed = Gate()
    try await withSocketServer { peer in
      guard try peer.readHead() != nil else { return }
      try peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n")
      _ = try peer.awaitClose()
      closed.open()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      #expect(await client.heads.next() == .failure(.wrongAccept))
      await closed.wait()
      #expect(await client.send(.text("late")) == .lost)
    }
  }

  // MARK: Messages

  @Test("large and compressed messages are echoed unchanged, also over TLS", arguments: [false, true], [false, true])
  func echo(isEncrypted: Bool, isCompressed: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withSocketServer(tls: isEncrypted ? identity : nil) { peer in
      try ServerSocket(
        peer, fields: isCompressed ? ["Sec-WebSocket-Extensions": "permessage-deflate"] : Fields())?.echo()
    } _: { origin, _ in
      var configuration = EngineConfiguration()
      configuration.tls.trustRoots = [.pem(identity.authorityPEM)]
      let engine = try Engine(configuration: configuration)
      let client = try SocketClient(engine, origin.url, deflate: DeflateOffer())
      for size in [0, 1, 125, 126, 1000, 65_535, 65_536, 1 << 20] {
        let message = WebSocketMessage.binary(SequenceBytes.bytes(from: 0, count: size))
        async let answer = client.receive()
        #expect(await client.send(message) == nil)
        #expect(await answer == .success(message))
      }
      let agreement = try await client.heads.next()?.get()
      #expect((agreement?.deflate != nil) == isCompressed)
      client.channel.close(WebSocketClose(.normal))
      #expect(await client.endings.next() == .closed(WebSocketClose(.normal)))
    }
  }

  @Test("a server that sends faster than the caller receives is stopped by TCP, and pings after the messages wait")
  func backpressure() async throws {
    let sentCount = Atomic(0)
    let isBlocked = Gate()
    let messageBytes = 16 * 1024
    let total = 4096
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      for number in 0..<total {
        try socket.send(ServerFrame(2, [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: messageBytes)))
        sentCount.store(number + 1, ordering: .relaxed)
      }
      isBlocked.open()
      try socket.echo()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      // The server can't send everything (64 MiB) while nothing is received, because the kernel's buffers are smaller.
      var before = -1
      #expect(
        await settles(every: .milliseconds(100)) {
          let now = sentCount.load(ordering: .relaxed)
          defer { before = now }
          return now > 0 && now == before
        })
      #expect(!isBlocked.isOpen)
      for number in 0..<total {
        guard case .success(.binary(let bytes)) = await client.receive() else { return #expect(Bool(false)) }
        guard bytes.count == messageBytes, bytes[0] == UInt8(truncatingIfNeeded: number) else {
          return #expect(Bool(false), "message \(number)")
        }
      }
      await isBlocked.wait()
      client.channel.close(WebSocketClose(.normal))
      #expect(await client.endings.next() == .closed(WebSocketClose(.normal)))
    }
  }

  @Test("sending waits while a server reads nothing, and continues when it reads")
  func slowServer() async throws {
    let mayRead = Gate()
    // More than the buffers of both sockets can hold.
    let (messageBytes, total) = (1 << 20, 48)
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      try peer.wait(for: mayRead)
      try socket.echo()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      let sent = Atomic(0)
      let sending = Task {
        for _ in 0..<total {
          guard await client.send(.binary([UInt8](repeating: 1, count: messageBytes))) == nil else { return }
          sent.add(1, ordering: .relaxed)
        }
      }
      var before = -1
      #expect(
        await settles(every: .milliseconds(100)) {
          let now = sent.load(ordering: .relaxed)
          defer { before = now }
          return now == before
        })
      #expect(sent.load(ordering: .relaxed) < total)
      mayRead.open()
      for _ in 0..<total {
        #expect((try? await client.receive().get().byteCount) == messageBytes)
      }
      await sending.value
      #expect(sent.load(ordering: .relaxed) == total)
    }
  }

  @Test("several receivers get the messages in their order")
  func severalReceivers() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      guard try socket.next() != nil else { return }
      try socket.send(.text("1"), .text("2"), .text("3"))
      try socket.echo()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      let received = Recorder<Result<WebSocketMessage, Ending>>()
      for _ in 0..<4 { client.channel.receive { received.record($0) } }
      client.channel.send(.text("go")) { _ in }
      #expect(await received.first(3) == ["1", "2", "3"].map { .success(.text($0)) })
      client.channel.close(WebSocketClose(.normal))
      #expect(await received.next() == .failure(.discarded))
    }
  }
}
