// CompressionTests: permessage-deflate: its negotiation, and compressed messages in both directions (RFC 7692).

import LupineCoding
import LupineOrigin
import LupineRandom
import Testing

@testable import LupineWebSocket

@Suite("permessage-deflate")
struct CompressionTests {
  // MARK: Negotiation

  private static func parameters(
    _ clientBits: Int = 15, _ serverBits: Int = 15, clientResets: Bool = false, serverResets: Bool = false
  ) -> DeflateParameters {
    var parameters = DeflateParameters()
    parameters.clientWindowBits = clientBits
    parameters.serverWindowBits = serverBits
    parameters.clientResets = clientResets
    parameters.serverResets = serverResets
    return parameters
  }

  private static let answers: [(answer: String, expected: Result<DeflateParameters?, WebSocketHandshakeError>)] = [
    ("", .success(nil)),
    (" , ", .success(nil)),
    ("permessage-deflate", .success(parameters())),
    ("permessage-deflate; server_no_context_takeover", .success(parameters(serverResets: true))),
    (
      "permessage-deflate;client_no_context_takeover ;server_max_window_bits=8",
      .success(parameters(15, 8, clientResets: true))
    ),
    ("permessage-deflate; client_max_window_bits=\"10\"; server_max_window_bits=15", .success(parameters(10))),
    ("permessage-deflate; client_max_window_bits", .failure(.malformedExtensions)),
    ("permessage-deflate; client_max_window_bits=7", .failure(.windowBitsOutOfRange("7"))),
    ("permessage-deflate; client_max_window_bits=16", .failure(.windowBitsOutOfRange("16"))),
    ("permessage-deflate; server_max_window_bits=08", .failure(.windowBitsOutOfRange("08"))),
    (
      "permessage-deflate; server_max_window_bits=99999999999999999999",
      .failure(.windowBitsOutOfRange("99999999999999999999"))
    ),
    ("permessage-deflate; server_max_window_bits=+9", .failure(.windowBitsOutOfRange("+9"))),
    ("permessage-deflate; server_max_window_bits", .failure(.malformedExtensions)),
    ("permessage-deflate; server_no_context_takeover=1", .failure(.malformedExtensions)),
    ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", .failure(.malformedExtensions)),
    ("permessage-deflate; unknown", .failure(.malformedExtensions)),
    ("permessage-deflate; =1", .failure(.malformedExtensions)),
    ("permessage-deflate;", .failure(.malformedExtensions)),
    ("permessage-deflate, permessage-deflate", .failure(.unofferedExtension("permessage-deflate"))),
    ("x-webkit-deflate-frame", .failure(.unofferedExtension("x-webkit-deflate-frame"))),
  ]

  @Test("an answer to the default offer is accepted or refused by the rules of RFC 7692 §7.1", arguments: answers)
  func negotiated(_ answer: String, _ expected: Result<DeflateParameters?, WebSocketHandshakeError>) {
    let handshake = WebSocketHandshake(key: "k")
    let result = Result { () throws(WebSocketHandshakeError) in
      try handshake.check(status: 101, expectedAccept: "a") { name in
        switch name {
        case "Upgrade": ["WebSocket"]
        case "Connection": ["keep-alive, Upgrade"]
        case "Sec-WebSocket-Accept": ["a"]
        case "Sec-WebSocket-Extensions": [answer]
        default: []
        }
      }.deflate
    }
    #expect(result == expected)
  }

  @Test("the requirements of an offer are its parameters, and an answer that ignores them is refused")
  func requirements() throws {
    #expect(DeflateOffer().element == "permessage-deflate; client_max_window_bits")
    var offer = DeflateOffer()
    (offer.clientWindowBits, offer.serverWindowBits, offer.clientResets, offer.serverResets) = (10, 9, true, true)
    #expect(
      offer.element
        == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9"
        + "; client_max_window_bits=10")
    for (answer, isValid) in [
      ("permessage-deflate; server_no_context_takeover; server_max_window_bits=9", true),
      ("permessage-deflate; server_no_context_takeover; server_max_window_bits=10", false),
      ("permessage-deflate; server_no_context_takeover", false),
      ("permessage-deflate; server_max_window_bits=9", false),
      ("permessage-deflate; server_no_context_takeover; server_max_window_bits=9; client_max_window_bits=11", false),
    ] {
      let element = try #require(try ExtensionElement.list([answer]).first)
      let parameters = try? DeflateParameters(element, to: offer)
      #expect((parameters != nil) == isValid, "\(answer)")
      if isValid { #expect(parameters == Self.parameters(10, 9, clientResets: true, serverResets: true)) }
    }
  }

  // MARK: Messages

  private static let hello: [[UInt8]] = [
    [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
    [0xf2, 0x00, 0x11, 0x00, 0x00],
    [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
    [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
    [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
    [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
    [0xf2, 0x00, 0x11, 0x00, 0x00],
  ]

  @Test("the examples of RFC 7692 §7.2.3 are decoded in one stream, also fragmented, and after a final block")
  func examples() throws {
    let client = Client(DeflateParameters())
    for payload in Self.hello {
      #expect(try client.receive(ServerFrame(1, payload, reservedBits: 4)) == [.message(.text("Hello"))])
      var frames = [ServerFrame(1, [payload[0]], isFinal: false, reservedBits: 4)]
      frames += payload.dropFirst().map { ServerFrame(0, [$0], isFinal: false) }
      frames.append(ServerFrame(0))
      #expect(try client.receive(frames.flatMap(\.bytes)) == [.message(.text("Hello"))])
    }
    #expect(try client.receive(.text("plain")) == [.message(.text("plain"))])
    #expect(try client.receive(ServerFrame(1, [0], reservedBits: 4)) == [.message(.text(""))])
  }

  @Test("blocks that are marked as the last ones leave the window as it was, and the next message refers to it")
  func finalBlocks() throws {
    var encoder = try RawDeflateEncoder(windowBits: 15)
    var random = SplitMix64(seed: 1)
    let first = (0..<32_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let client = Client(DeflateParameters())
    var coded: [UInt8] = []
    try encoder.encode(first.span, into: &coded)
    #expect(try client.receive(ServerFrame(2, coded, reservedBits: 4)) == [.message(.binary(first))])
    let empty = [[UInt8]](repeating: [0x03, 0x00], count: 20_000).flatMap { $0 }
    #expect(try client.receive(ServerFrame(2, empty, reservedBits: 4)) == [.message(.binary([]))])
    let second = Array(first.prefix(500))
    coded = []
    try encoder.encode(second.span, into: &coded)
    #expect(coded.count < 50)
    #expect(try client.receive(ServerFrame(2, coded, reservedBits: 4)) == [.message(.binary(second))])
  }

  @Test("discarded messages are neither decompressed nor returned, and control frames still have their effect")
  func discarded() throws {
    let client = Client(DeflateParameters())
    #expect(try client.receive(ServerFrame(1, [0xf2], isFinal: false, reservedBits: 4)) == [])
    client.discardMessages()
    let close = WebSocketClose(.normal)
    #expect(
      try client.receive(
        ServerFrame(0, [0xff, 0xff], isFinal: false), ServerFrame(9, [1]), ServerFrame(0, [0xff]),
        ServerFrame(2, [0xff, 0xff, 0xff], reservedBits: 4), ServerFrame(1, [0xff]), .close(1000))
        == [.ping([1]), .close(close)])
    #expect(client.frames().map(\.opcode) == [10, 8])
  }

  @Test("if the server must reset its compressor, a message that refers to an earlier one is refused")
  func serverResets() throws {
    let client = Client(Self.parameters(serverResets: true))
    #expect(try client.receive(ServerFrame(1, Self.hello[0], reservedBits: 4)) == [.message(.text("Hello"))])
    #expect { try client.receive(ServerFrame(1, Self.hello[1], reservedBits: 4)) } throws: { error in
      if case .decompression = error as? WebSocketError { true } else { false }
    }
    #expect(client.frames().map(\.payload) == [ServerFrame.close(1007).payload])
  }

  @Test("only the first frame of a message may be marked as compressed, and only if the extension was negotiated")
  func mark() {
    let client = Client(DeflateParameters())
    #expect(throws: WebSocketError.reservedBits(4)) {
      try client.receive(
        ServerFrame(1, [0xf2], isFinal: false, reservedBits: 4), ServerFrame(0, [0x48], reservedBits: 4))
    }
    let control = Client(DeflateParameters())
    #expect(throws: WebSocketError.reservedBits(4)) { try control.receive(ServerFrame(9, reservedBits: 4)) }
    let plain = Client()
    #expect(throws: WebSocketError.reservedBits(4)) {
      try plain.receive(ServerFrame(1, Self.hello[0], reservedBits: 4))
    }
  }

  @Test("a message that expands beyond its limit is refused without more memory than the limit")
  func bomb() throws {
    var encoder = try RawDeflateEncoder(windowBits: 15)
    var coded: [UInt8] = []
    try encoder.encode([UInt8](repeating: 0, count: 50 << 20).span, into: &coded)
    #expect(coded.count < 60_000)
    let client = Client(DeflateParameters(), messageBytesMax: 1 << 20)
    // More frames could follow. The message is refused before its end.
    #expect(throws: WebSocketError.messageTooBig(limit: 1 << 20)) {
      try client.receive(ServerFrame(2, coded, isFinal: false, reservedBits: 4))
    }
    #expect(client.frames().map(\.payload) == [ServerFrame.close(1009).payload])
    var exact: [UInt8] = []
    encoder.reset()
    try encoder.encode([UInt8](repeating: 0, count: 1 << 20).span, into: &exact)
    let second = Client(DeflateParameters(), messageBytesMax: 1 << 20)
    #expect(try second.receive(ServerFrame(2, exact, reservedBits: 4)).count == 1)
  }

  @Test("a compressed message that is invalid or ends within a block fails the connection")
  func damaged() {
    for payload: [UInt8] in [[0xff, 0xff, 0xff], [0xf2, 0x48], [0x00, 0x05, 0x00], []] {
      let client = Client(DeflateParameters())
      #expect { try client.receive(ServerFrame(2, payload, reservedBits: 4)) } throws: { error in
        if case .decompression = error as? WebSocketError { true } else { false }
      }
    }
  }

  @Test(
    "messages of all sizes are decoded by the peer, for every window, with and without context takeover",
    arguments: 8...15, [false, true])
  func roundTrip(_ bits: Int, _ resets: Bool) throws {
    let parameters = Self.parameters(bits, bits, clientResets: resets, serverResets: resets)
    let client = Client(parameters)
    var peer = try RawInflateDecoder(windowBits: bits)
    var peerEncoder = try RawDeflateEncoder(windowBits: bits)
    var random = SplitMix64(seed: UInt64(bits))
    for size in [0, 1, 127, 128, 129, 300, 5000, 16_384, 16_385, 100_000] {
      // Text with repetitions at many distances.
      let words = (0..<50).map { _ in String(random.next() % 10_000) }
      var text = ""
      while text.utf8.count < size { text += words[Int(random.next() % 50)] }
      let message = WebSocketMessage.text(String(text.prefix(size)))
      let bytes = Array(text.prefix(size).utf8)
      #expect(try client.send(message))
      let frame = try #require(client.frames().first)
      #expect(frame.reservedBits == (size >= 128 ? 4 : 0))
      if frame.reservedBits == 4 {
        #expect(frame.payload.count < size)
        var decoded: [UInt8] = []
        try peer.decode(frame.payload.span, into: &decoded, countMax: size)
        try peer.finishMessage(into: &decoded, countMax: size)
        if resets { peer.reset() }
        #expect(decoded == bytes)
      }
      var coded: [UInt8] = []
      try peerEncoder.encode(bytes.span, into: &coded)
      if resets { peerEncoder.reset() }
      #expect(try client.receive(ServerFrame(1, coded, reservedBits: 4)) == [.message(message)])
    }
  }

  @Test("data for a window of 8 bits never refers back by more than 256 bytes")
  func smallestWindow() throws {
    // The copies are at distances around 256, where a window of 9 bits would reach.
    var bytes: [UInt8] = []
    var random = SplitMix64(seed: 3)
    let block = (0..<40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    for gap in 200..<300 {
      bytes += block
      bytes += (0..<gap - 40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    var coded: [UInt8] = []
    var encoder = try RawDeflateEncoder(windowBits: 8)
    try encoder.encode(bytes.span, into: &coded)
    #expect(try DeflateDistances.longest(in: coded) <= 256)
    var decoded: [UInt8] = []
    var decoder = try RawInflateDecoder(windowBits: 8)
    try decoder.decode(coded.span, into: &decoded, countMax: bytes.count)
    try decoder.finishMessage(into: &decoded, countMax: bytes.count)
    #expect(decoded == bytes)
  }
}
