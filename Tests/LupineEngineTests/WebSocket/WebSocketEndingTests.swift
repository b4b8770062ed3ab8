// WebSocketEndingTests: every kind of end of a WebSocket connection over the engine, and its time limits.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineWebSocket
import Synchronization
import Testing

@Suite("The end of WebSockets over the engine", .timeLimit(.minutes(10)))
struct WebSocketEndingTests {
  // MARK: Ending

  @Test("the server's Close frame is answered, buffered messages can be received, and the rest fails with its code")
  func closedByServer() async throws {
    let frames = Recorder<ServerFrame?>()
    let close = WebSocketClose(WebSocketCloseCode(rawValue: 4000), reason: Array("over".utf8))
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [.text("a"), .text("b"), .close(4000, "over")]) else { return }
      frames.record(try socket.next())
      peer.finishSending()
      frames.record(try socket.next())
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      #expect(await client.receive() == .success(.text("a")))
      #expect(await client.receive() == .success(.text("b")))
      #expect(await client.endings.next() == .closed(close))
      #expect(await client.receive() == .failure(.closed(close)))
      #expect(await client.send(.text("late")) == .closed(close))
      #expect(await client.ping() == .closed(close))
      #expect(await frames.next()??.payload == [0x0f, 0xa0])
      #expect(await frames.next() == .some(nil))
      #expect(await client.ends.next() == .some(nil))
    }
  }

  @Test(
    "the end is reported after the messages before it were taken, or after a time in which none was taken",
    arguments: [[ServerFrame.close(1001)], [ServerFrame(3)], []])
  func heldEnding(_ last: [ServerFrame]) async throws {
    let bytes = ([.text("a"), .text("b"), .text("c")] + last).flatMap(\.bytes)
    for limit in [nil, Duration.seconds(3)] {
      let clock = ManualTimer()
      defer { clock.end() }
      let (events, hasEnded) = (Recorder<String>(), Gate())
      var timeouts = WebSocketTimeouts()
      timeouts.untakenMessages = limit
      let channel = WebSocketChannel(limits: WebSocketLimits(), timeouts: timeouts, timer: clock.timer)
      channel.connect(
        to: WebSocketChannel.Transport(windowBytes: 64 << 10, extendWindow: { _ in }, close: {}) { _ in
          events.record("end")
          hasEnded.open()
        })
      channel.open(WebSocketAgreement())
      channel.receive(bytes: bytes.span)
      channel.transportEnded()
      let receive = { channel.receive { events.record((try? $0.get()) == nil ? "failed" : "message") } }
      receive()
      events.record("mark")
      if limit == nil {
        for _ in 0..<3 { receive() }
        #expect(await events.first(6) == ["message", "mark", "message", "message", "end", "failed"])
      } else {
        // Each taken message restarts the time.
        clock.advance(by: .seconds(2))
        receive()
        clock.advance(by: .seconds(2))
        events.record("mark")
        clock.advance(by: .seconds(1))
        // Without the end, the channel would await its passed deadline again and again.
        let isSettled = await settles { hasEnded.isOpen || clock.passedCount > 10 }
        try #require(isSettled && hasEnded.isOpen)
        #expect(await events.first(5) == ["message", "mark", "message", "mark", "end"])
        for _ in 0..<2 { receive() }
        #expect(await events.first(2) == ["message", "failed"])
      }
    }
  }

  @Test("a violation of the protocol closes the connection with its code, and all that waits fails with the error")
  func violation() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      _ = try socket.next()
      try socket.send(ServerFrame(1, [0xff]))
      frames.record(try socket.next())
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      async let pong = client.ping()
      async let message = client.receive()
      #expect(await pong == .failed(.invalidUTF8))
      #expect(await message == .failure(.failed(.invalidUTF8)))
      #expect(await client.endings.next() == .failed(.invalidUTF8))
      #expect(await frames.next()??.payload == ServerFrame.close(1007).payload)
      #expect(await client.ends.next() == .some(nil))
    }
  }

  @Test("an answer to a message is sent before the Close frame for a violation that follows the message")
  func answeredViolation() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [.text("question"), ServerFrame(3)]) else { return }
      for _ in 0..<2 { frames.record(try socket.next()) }
    } _: { origin, engine in
      let clock = ManualTimer()
      defer { clock.end() }
      let client = try SocketClient(engine, origin.url, timer: clock.timer)
      #expect(await client.receive() == .success(.text("question")))
      // The violation has been noticed, but waits for the answer.
      #expect(await clock.deadlines.next() == .seconds(5))
      #expect(await client.send(.text("answer")) == nil)
      #expect(await client.receive() == .failure(.failed(.reservedOpcode(3))))
      #expect(await frames.first(2).map { $0?.payload } == [Array("answer".utf8), ServerFrame.close(1002).payload])
    }
  }

  @Test("a violation closes the connection after the time limit, even if no caller asks for the next message")
  func unaskedViolation() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [ServerFrame(3)]) else { return }
      frames.record(try socket.next())
    } _: { origin, engine in
      let clock = ManualTimer()
      defer { clock.end() }
      let client = try SocketClient(engine, origin.url, timer: clock.timer)
      #expect(await clock.deadlines.next() == .seconds(5))
      clock.advance(by: .seconds(5))
      #expect(await client.endings.next() == .failed(.reservedOpcode(3)))
      #expect(await frames.next()??.payload == ServerFrame.close(1002).payload)
    }
  }

  @Test(
    "a connection that ends without a Close frame is lost, by FIN, in the middle of a frame, or by reset",
    arguments: 0..<3)
  func lost(_ kind: Int) async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [.text("last")]) else { return }
      guard try socket.next() != nil else { return }
      switch kind {
      case 0: peer.close()
      case 1:
        try peer.send([0x81, 0x05, 0x61])
        peer.finishSending()
        _ = try peer.awaitClose()
      default: peer.reset()
      }
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url)
      #expect(await client.receive() == .success(.text("last")))
      async let pong = client.ping()
      async let message = client.receive()
      #expect(await pong == .lost)
      #expect(await message == .failure(.lost))
      #expect(await client.endings.next() == .lost)
      #expect(await client.send(.text("late")) == .lost)
    }
  }

  @Test("messages that weren't parsed because no caller received them are delivered after the connection has ended")
  func unparsed() async throws {
    let size = 200 * 1024
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      for number in 0..<4 { try socket.send(ServerFrame(2, [UInt8](repeating: UInt8(number), count: size))) }
      try socket.send(.close(1001))
      peer.finishSending()
      _ = try peer.awaitClose()
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url, windowBytes: 1 << 20)
      for number in 0..<4 {
        #expect(await client.receive() == .success(.binary([UInt8](repeating: UInt8(number), count: size))))
      }
      #expect(await client.receive() == .failure(.closed(WebSocketClose(.goingAway))))
    }
  }

  // MARK: Time

  @Test("a server that doesn't answer a Close frame is disconnected after the time limit, although it still sends")
  func closeLimit() async throws {
    let closed = Gate()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      while let frame = try socket.next(), frame.opcode != 8 {}
      try socket.send(.text("not listening"))
      _ = try peer.awaitClose()
      closed.open()
    } _: { origin, engine in
      let clock = ManualTimer()
      defer { clock.end() }
      let client = try SocketClient(engine, origin.url, timer: clock.timer)
      _ = await client.heads.next()
      #expect(client.channel.close(WebSocketClose(.normal)))
      #expect(!client.channel.close(WebSocketClose(.normal)))
      #expect(await clock.deadlines.next() == .seconds(5))
      clock.advance(by: .seconds(5))
      try #require(await settles(within: .seconds(30)) { closed.isOpen })
      #expect(await client.endings.next() == .lost)
    }
  }

  @Test("messages that arrive after the caller has closed the connection aren't decompressed")
  func discarded() async throws {
    try await withSocketServer { peer in
      let fields: Fields = ["Sec-WebSocket-Extensions": "permessage-deflate"]
      guard let socket = try ServerSocket(peer, fields: fields) else { return }
      while let frame = try socket.next(), frame.opcode != 8 {}
      // Decompressing this message would fail.
      try socket.send(ServerFrame(2, [0xff, 0xff, 0xff], reservedBits: 4))
      try socket.send(.close(1000))
    } _: { origin, engine in
      let client = try SocketClient(engine, origin.url, deflate: DeflateOffer())
      _ = await client.heads.next()
      #expect(client.channel.close(WebSocketClose(.normal)))
      #expect(await client.endings.next() == .closed(WebSocketClose(.normal)))
    }
  }

  @Test("pings are sent after each interval of silence, and a server that doesn't answer is disconnected")
  func pings() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      frames.record(try socket.next())
      try socket.send(ServerFrame(10), .text("answered"))
      frames.record(try socket.next())
      _ = try peer.awaitClose()
    } _: { origin, engine in
      let clock = ManualTimer()
      defer { clock.end() }
      var timeouts = WebSocketTimeouts()
      (timeouts.pingInterval, timeouts.pong) = (.seconds(30), .seconds(10))
      let client = try SocketClient(engine, origin.url, timeouts: timeouts, timer: clock.timer)
      #expect(await clock.deadlines.next() == .seconds(30))
      clock.advance(by: .seconds(30))
      #expect(await frames.next()??.opcode == 9)
      #expect(await clock.deadlines.next() == .seconds(10))
      #expect(await client.receive() == .success(.text("answered")))
      // The pong has arrived in time, so its deadline is followed by the rest of the next interval.
      clock.advance(by: .seconds(10))
      #expect(await clock.deadlines.next() == .seconds(20))
      clock.advance(by: .seconds(30))
      #expect(await frames.next()??.opcode == 9)
      _ = await clock.deadlines.next()
      clock.advance(by: .seconds(30))
      #expect(await client.endings.next() == .failed(.pingTimedOut(.seconds(10))))
      #expect(await client.ends.next() == .some(nil))
    }
  }

  /// Returns an open channel without a connection, which sends a ping after 30 seconds and waits 10 seconds for the pong.
  private func channel(_ clock: ManualTimer, _ endings: Recorder<WebSocketChannel.Ending>) -> WebSocketChannel {
    var timeouts = WebSocketTimeouts()
    (timeouts.pingInterval, timeouts.pong) = (.seconds(30), .seconds(10))
    let channel = WebSocketChannel(limits: WebSocketLimits(), timeouts: timeouts, timer: clock.timer)
    channel.connect(
      to: WebSocketChannel.Transport(
        windowBytes: 1 << 20, extendWindow: { _ in }, close: {}, onEnd: { endings.record($0) }))
    channel.open(WebSocketAgreement(subprotocol: nil, deflate: nil))
    return channel
  }

  @Test("when the caller continues reading, the time for a pong begins again")
  func continuedReading() async throws {
    let clock = ManualTimer()
    defer { clock.end() }
    let channel = channel(clock, Recorder())
    channel.setReadingPaused { true }
    #expect(await clock.deadlines.next() == .seconds(30))
    clock.advance(by: .seconds(30))
    #expect(await clock.deadlines.next() == .seconds(10))
    channel.setReadingPaused { false }
    clock.advance(by: .seconds(10))
    // The rest of the time to the next ping.
    #expect(await clock.deadlines.next() == .seconds(20))
  }

  @Test("a pong that waits unread isn't missing, whether 256 KiB are unread or the caller has paused reading")
  func unreadPong() async throws {
    for isPaused in [false, true] {
      let clock = ManualTimer()
      defer { clock.end() }
      let endings = Recorder<WebSocketChannel.Ending>()
      let channel = channel(clock, endings)
      let message = ServerFrame(2, [UInt8](repeating: 1, count: 60_000))
      let messages = [ServerFrame](repeating: message, count: isPaused ? 0 : 6)
      channel.setReadingPaused { isPaused }
      for message in messages { channel.receive(bytes: message.bytes.span) }
      for deadline in [Duration.seconds(30), .seconds(10)] {
        #expect(await clock.deadlines.next() == deadline)
        clock.advance(by: deadline)
      }
      // The next ping instead of the end.
      #expect(await clock.deadlines.next() == .seconds(30))
      channel.setReadingPaused { false }
      for _ in messages { channel.receive { result in #expect(throws: Never.self) { try result.get() } } }
      clock.advance(by: .seconds(30))
      #expect(await clock.deadlines.next() == .seconds(10))
      clock.advance(by: .seconds(10))
      #expect(await endings.next() == .failed(.pingTimedOut(.seconds(10))))
    }
  }
}
