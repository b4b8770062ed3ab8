// WebSocketConnectionTests: messages, control frames, errors and the closing handshake of a connection.

import LupineCoding
import LupineOrigin
import LupineRandom
import LupineWebSocket
import Testing

/// A connection with the bytes that it has sent.
final class Client {
  private var connection: WebSocketConnection
  private var sent: [UInt8] = []

  init(
    _ deflate: DeflateParameters? = nil, messageBytesMax: Int = 1 << 20, frameBytesMax: Int = 16 << 20,
    random: any RandomNumberGenerator & Sendable = SplitMix64(seed: 1)
  ) {
    var limits = WebSocketLimits()
    limits.messageBytesMax = messageBytesMax
    limits.frameBytesMax = frameBytesMax
    connection = WebSocketConnection(deflate: deflate, limits: limits, random: random)
  }

  func discardMessages() { connection.discardMessages() }

  /// Passes bytes to the connection and returns the events, without the final `needMoreBytes`.
  func receive(_ bytes: [UInt8]) throws(WebSocketError) -> [WebSocketConnection.Event] {
    var events: [WebSocketConnection.Event] = []
    var cursor = 0
    while true {
      let event: WebSocketConnection.Event
      do throws(WebSocketError) { event = try connection.receive(bytes.span, at: &cursor) } catch {
        connection.fail(error)
        sent += connection.takeOutput()
        throw error
      }
      if event == .needMoreBytes { break }
      events.append(event)
    }
    sent += connection.takeOutput()
    return events
  }

  func receive(_ frames: ServerFrame...) throws(WebSocketError) -> [WebSocketConnection.Event] {
    try receive(frames.flatMap(\.bytes))
  }

  func send(_ message: WebSocketMessage) throws(CodingError) -> Bool { try connection.send(message) }
  func ping() -> Bool { connection.ping() }
  func close(_ close: WebSocketClose) -> Bool { connection.close(close) }
  var isOpen: Bool { connection.isOpen }
  var isBacklogged: Bool {
    get { connection.isBacklogged }
    set { connection.isBacklogged = newValue }
  }

  /// Removes and returns the frames that the connection has sent.
  func frames() -> [ServerFrame] {
    sent += connection.takeOutput()
    var frames: [ServerFrame] = []
    while let frame = ServerFrame.remove(from: &sent) { frames.append(frame) }
    return frames
  }
}

@Suite("WebSocket connection")
struct WebSocketConnectionTests {
  @Test("the example frames of RFC 6455 are parsed")
  func examples() throws {
    let client = Client()
    #expect(try client.receive([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.message(.text("Hello"))])
    #expect(
      try client.receive([0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f]) == [.message(.text("Hello"))])
    #expect(try client.receive([0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]) == [.ping(Array("Hello".utf8))])
    let binary = [UInt8](repeating: 7, count: 256)
    #expect(try client.receive([0x82, 0x7e, 0x01, 0x00] + binary) == [.message(.binary(binary))])
  }

  @Test("control frames between the fragments of a message are reported at once, and pings are answered")
  func interleaved() throws {
    let bytes = [
      ServerFrame(1, Array("a€".utf8.prefix(2)), isFinal: false), ServerFrame(9, [1, 2]),
      ServerFrame(0, [], isFinal: false), ServerFrame(10, [3]), ServerFrame(0, Array("a€".utf8.dropFirst(2))),
    ].flatMap(\.bytes)
    for split in 0...bytes.count {
      let client = Client()
      var events = try client.receive(Array(bytes[..<split]))
      events += try client.receive(Array(bytes[split...]))
      #expect(events == [.ping([1, 2]), .pong([3]), .message(.text("a€"))])
      #expect(client.frames().map { [$0.opcode] + $0.payload } == [[10, 1, 2]])
    }
  }

  private static let violations: [(frames: [ServerFrame], error: WebSocketError, code: UInt16)] = [
    ([ServerFrame(1, reservedBits: 4)], .reservedBits(4), 1002),
    ([ServerFrame(9, reservedBits: 1)], .reservedBits(1), 1002),
    ([ServerFrame(3)], .reservedOpcode(3), 1002),
    ([ServerFrame(2, [1], mask: [1, 2, 3, 4])], .maskedFrame, 1002),
    ([ServerFrame(9, isFinal: false)], .fragmentedControlFrame, 1002),
    ([ServerFrame(9, [UInt8](repeating: 0, count: 126))], .controlFrameTooLong(126), 1002),
    ([ServerFrame(0)], .unexpectedContinuation, 1002),
    ([.text("a", isFinal: false), .text("b")], .interruptedMessage, 1002),
    ([.text("a"), ServerFrame(0)], .unexpectedContinuation, 1002),
    ([ServerFrame(1, [0xc3], isFinal: false), ServerFrame(0, [0x28])], .invalidUTF8, 1007),
    ([ServerFrame(1, [0xc3])], .invalidUTF8, 1007),
    ([ServerFrame(8, [3])], .closePayloadTooShort, 1002),
    ([.close(1005)], .forbiddenCloseCode(1005), 1002),
    ([.close(2999)], .forbiddenCloseCode(2999), 1002),
    ([ServerFrame(8, [0x03, 0xe8, 0xff])], .invalidUTF8, 1007),
  ]

  @Test(
    "a frame that breaks a rule fails the connection with the rule's code, and later bytes are ignored",
    arguments: violations)
  func violation(_ frames: [ServerFrame], _ error: WebSocketError, _ code: UInt16) throws {
    let client = Client()
    #expect(throws: error) { try client.receive(frames.flatMap(\.bytes)) }
    #expect(client.frames().last?.payload == ServerFrame.close(code).payload)
    #expect(!client.isOpen)
    #expect(try client.receive(.text("late"), ServerFrame(9)) == [])
    #expect(client.frames().isEmpty)
  }

  @Test("an invalid byte of a text fails the connection before its frame ends")
  func earlyText() throws {
    let client = Client()
    let bytes = ServerFrame(1, Array("κό".utf8) + [0xf4, 0x90, 0x80, 0x80]).bytes
    #expect(try client.receive(Array(bytes.dropLast(3))) == [])
    #expect(throws: WebSocketError.invalidUTF8) { try client.receive([0x90]) }
  }

  @Test("a message or frame is accepted up to its limit, and refused when its header shows that it is longer")
  func limits() throws {
    let payload = [UInt8](repeating: 1, count: 1000)
    let client = Client(messageBytesMax: 1000)
    #expect(try client.receive(ServerFrame(2, payload)) == [.message(.binary(payload))])
    #expect(throws: WebSocketError.messageTooBig(limit: 1000)) {
      try client.receive(Array(ServerFrame(2, payload + [1]).bytes.prefix(4)))
    }
    #expect(client.frames().map(\.payload) == [ServerFrame.close(1009).payload])
    let second = Client(messageBytesMax: 1000)
    #expect(try second.receive(ServerFrame(2, payload, isFinal: false)) == [])
    #expect(throws: WebSocketError.messageTooBig(limit: 1000)) { try second.receive(ServerFrame(0, [1])) }
    let third = Client(frameBytesMax: 999)
    #expect(throws: WebSocketError.frameTooBig(limit: 999)) { try third.receive(ServerFrame(2, payload)) }
    #expect(third.frames().map(\.payload) == [ServerFrame.close(1009).payload])
  }

  @Test("each frame is masked with a new key from the random generator")
  func masks() throws {
    let client = Client()
    for _ in 0..<100 { #expect(try client.send(.text("same"))) }
    let frames = client.frames()
    #expect(frames.count == 100 && frames.allSatisfy { $0.payload == Array("same".utf8) })
    #expect(Set(frames.map(\.mask)).count == 100)
    var random = SplitMix64(seed: 1)
    let first = UInt32(truncatingIfNeeded: random.next())
    #expect(frames[0].mask.reduce(0) { $0 << 8 | UInt32($1) } == first)
  }

  @Test("while the output is backlogged, only the latest ping is answered, so that pings can't fill the memory")
  func pings() throws {
    let client = Client()
    client.isBacklogged = true
    for number in 0..<1000 {
      _ = try client.receive(ServerFrame(9, [UInt8(number & 0xff), UInt8(number >> 8)]))
    }
    #expect(client.frames().isEmpty)
    client.isBacklogged = false
    #expect(client.frames().map { [$0.opcode] + $0.payload } == [[10, 0xe7, 0x03]])
    client.isBacklogged = true
    client.isBacklogged = false
    #expect(client.frames().isEmpty)
  }

  // MARK: Closing

  @Test("the server's Close frame is answered with its code, and nothing is sent or received afterward")
  func closedByServer() throws {
    for (frame, close, answer) in [
      (ServerFrame.close(1001, "bye"), WebSocketClose(.goingAway, reason: Array("bye".utf8)), [0x03, 0xe9]),
      (ServerFrame(8), WebSocketClose(.noStatus), []),
      (ServerFrame.close(4999), WebSocketClose(WebSocketCloseCode(rawValue: 4999)), [0x13, 0x87] as [UInt8]),
    ] {
      let client = Client()
      #expect(try client.receive(.text("a"), frame, .text("b")) == [.message(.text("a")), .close(close)])
      #expect(client.frames().map { [$0.opcode] + $0.payload } == [[8] + answer])
      #expect(try !client.send(.text("c")))
      #expect(!client.ping())
      #expect(!client.close(WebSocketClose(.normal)))
      #expect(try client.receive(ServerFrame(3)) == [])
      #expect(client.frames().isEmpty)
    }
  }

  @Test(
    "after the client's Close frame, messages still arrive, but nothing is sent, not even a pong or another Close frame"
  )
  func closedByClient() throws {
    let client = Client()
    #expect(client.close(WebSocketClose(.normal, reason: Array("done".utf8))))
    #expect(client.frames().map(\.payload) == [[0x03, 0xe8] + Array("done".utf8)])
    #expect(try client.receive(.text("late"), ServerFrame(9)) == [.message(.text("late")), .ping([])])
    #expect(try client.receive(.close(1000)) == [.close(WebSocketClose(.normal))])
    #expect(client.frames().isEmpty)
  }

  @Test("a reason is truncated to 123 bytes without splitting a character")
  func longReason() {
    let client = Client()
    let reason = Array((String(repeating: "a", count: 122) + "é").utf8)
    #expect(client.close(WebSocketClose(.normal, reason: reason)))
    #expect(client.frames().map(\.payload) == [[0x03, 0xe8] + [UInt8](repeating: 0x61, count: 122)])
  }

  @Test("the codes that may be sent are those of RFC 6455, of IANA's registry, and of libraries and applications")
  func codes() {
    let sendable = (0...6000).filter { WebSocketCloseCode(rawValue: UInt16($0)).isSendable }
    #expect(sendable == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
  }

  // MARK: Random input

  @Test("random frames and random bytes never trap, and the events don't depend on the split")
  func random() throws {
    var random = SplitMix64(seed: 7)
    for _ in 0..<500 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let frame = ServerFrame(
          UInt8.random(in: 0...10, using: &random),
          (0..<Int.random(in: 0...130, using: &random)).map { _ in UInt8.random(in: 32...127, using: &random) },
          isFinal: .random(using: &random), reservedBits: UInt8.random(in: 0...15, using: &random) == 0 ? 4 : 0)
        bytes += frame.bytes
      }
      if Bool.random(using: &random) { bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 0x40 }
      let whole = Client(DeflateParameters())
      let pieces = Client(DeflateParameters())
      let wholeResult = Result { () throws(WebSocketError) in try whole.receive(bytes) }
      var events: [WebSocketConnection.Event] = []
      var error: WebSocketError?
      for byte in bytes where error == nil {
        do throws(WebSocketError) { events += try pieces.receive([byte]) } catch let thrown { error = thrown }
      }
      switch wholeResult {
      case .success(let wholeEvents): #expect(wholeEvents == events && error == nil)
      // The position of invalid compressed data depends on the pieces in which zlib reads it.
      case .failure(.decompression): #expect(error?.closeCode == .invalidData)
      case .failure(let wholeError): #expect(wholeError == error)
      }
      #expect(whole.frames() == pieces.frames())
    }
  }
}
