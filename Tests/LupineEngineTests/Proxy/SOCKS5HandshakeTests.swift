// SOCKS5HandshakeTests: SOCKS 5 replies, complete, split, truncated, and followed by the tunnel's first bytes.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("SOCKS5Handshake")
struct SOCKS5HandshakeTests {
  private static let reply: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]

  private func handshake(
    _ url: String = "socks5h://h", host: String = "a.example", port: UInt16 = 80
  ) throws -> SOCKS5Handshake {
    try SOCKS5Handshake(try Proxy(url), host: host, port: port)
  }

  /// Passes the proxy's replies to the handshake, in pieces of at most `pieces` bytes. Returns all messages that the client sends.
  private func talk(_ handshake: SOCKS5Handshake, _ replies: [[UInt8]], pieces: Int = .max) throws -> [[UInt8]] {
    var handshake = handshake
    var sent = [handshake.opening]
    for (index, reply) in replies.enumerated() {
      var rest = reply[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(pieces))
        rest = rest.dropFirst(pieces)
        var cursor = 0
        let step = try handshake.receive(piece.span, at: &cursor)
        #expect(cursor == piece.count)
        switch step {
        case .needMoreBytes: #expect(!rest.isEmpty)
        case .send(let bytes):
          #expect(rest.isEmpty)
          sent.append(bytes)
        case .done: #expect(rest.isEmpty && index == replies.count - 1)
        }
      }
    }
    return sent
  }

  private func cause(_ handshake: SOCKS5Handshake, _ replies: [[UInt8]]) -> ProxyError.Cause? {
    var causes: [ProxyError.Cause?] = []
    for pieces in [Int.max, 1] {
      do {
        _ = try talk(handshake, replies, pieces: pieces)
        causes.append(nil)
      } catch {
        causes.append((error as? ProxyError)?.cause)
      }
    }
    #expect(causes[0] == causes[1])
    return causes[0]
  }

  // MARK: Requests

  @Test("without a user name, a SOCKS 5 client offers one authentication method, and with a user name two methods")
  func greetings() throws {
    #expect(try handshake().opening == [5, 1, 0])
    #expect(try handshake("socks5h://u:p@h").opening == [5, 2, 0, 2])
  }

  @Test("the SOCKS 5 client writes the destination as a name or as an address")
  func requests() throws {
    func request(_ host: String, _ port: UInt16) throws -> [UInt8] {
      try talk(try handshake(host: host, port: port), [[5, 0], Self.reply])[1]
    }
    #expect(try request("a.example", 443) == [5, 1, 0, 3, 9] + "a.example".utf8 + [1, 187])
    #expect(try request("1.2.3.4", 80) == [5, 1, 0, 1, 1, 2, 3, 4, 0, 80])
    #expect(
      try request("2001:db8::1", 65535) == [
        5, 1, 0, 4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255,
      ])
    let name = String(repeating: "n", count: 255)
    #expect(try request(name, 1) == [5, 1, 0, 3, 255] + name.utf8 + [0, 1])
  }

  @Test("the SOCKS 5 client refuses a host name of more than 255 bytes before sending anything")
  func longName() {
    #expect(throws: ProxyError(.hostNameTooLong(256), "socks5h://h:1080")) {
      try handshake(host: String(repeating: "n", count: 256))
    }
  }

  @Test("the SOCKS 5 client sends the user name and password only if the proxy requires them")
  func authentication() throws {
    let login = try handshake("socks5://us%C3%A9r:pass@h")
    let request: [UInt8] = [5, 1, 0, 3, 9] + "a.example".utf8 + [0, 80]
    #expect(
      try talk(login, [[5, 2], [1, 0], Self.reply])
        == [[5, 2, 0, 2], [1, 5] + "usér".utf8 + [4] + "pass".utf8, request])
    #expect(try talk(login, [[5, 0], Self.reply]) == [[5, 2, 0, 2], request])
    let nameAlone = try handshake("socks5://user@h")
    #expect(try talk(nameAlone, [[5, 2], [1, 0], Self.reply])[1] == [1, 4] + "user".utf8 + [0])
    let long = String(repeating: "x", count: 255)
    #expect(
      try talk(try handshake("socks5://\(long):\(long)@h"), [[5, 2], [1, 0], Self.reply])[1]
        == [1, 255] + long.utf8 + [255] + long.utf8)
  }

  // MARK: Replies

  @Test(
    "the SOCKS 5 client parses a reply with any type of address that arrives in two parts, and consumes no byte after it",
    arguments: [
      [5, 0, 0, 1, 1, 2, 3, 4, 5, 6], [5, 0, 0, 4] + [UInt8](repeating: 7, count: 18), [5, 0, 0, 3, 0, 1, 2],
      [5, 0, 0, 3, 1, 65, 1, 2], [5, 0, 0, 3, 255] + [UInt8](repeating: 65, count: 257),
      [5, 0, 77, 1, 0, 0, 0, 0, 0, 0],
    ] as [[UInt8]])
  func replies(reply: [UInt8]) throws {
    let bytes = reply + Array("HTTP".utf8)
    for split in 0...reply.count {
      var handshake = try handshake()
      var cursor = 0
      _ = try handshake.receive([5, 0].span, at: &cursor)
      cursor = 0
      if split < reply.count {
        #expect(try handshake.receive(Array(bytes[..<split]).span, at: &cursor) == .needMoreBytes)
        #expect(cursor == split)
        // The second call continues within the same buffer.
        #expect(try handshake.receive(bytes.span, at: &cursor) == .done)
      } else {
        #expect(try handshake.receive(bytes.span, at: &cursor) == .done)
      }
      #expect(cursor == reply.count, "split at \(split)")
    }
    #expect(try talk(try self.handshake("socks5://u:p@h"), [[5, 2], [1, 0], reply], pieces: 1).count == 3)
  }

  @Test("the SOCKS 5 client consumes no byte after the reply that selects the authentication method")
  func nothingBeyondTheMethod() throws {
    var handshake = try handshake("socks5://u:p@h")
    var cursor = 0
    let bytes: [UInt8] = [5, 2, 1, 0] + Self.reply + [9]
    #expect(try handshake.receive(bytes.span, at: &cursor) == .send([1, 1, 117, 1, 112]))
    #expect(cursor == 2)
    guard case .send = try handshake.receive(bytes.span, at: &cursor) else {
      Issue.record("The request wasn't sent.")
      return
    }
    #expect(cursor == 4)
    #expect(try handshake.receive(bytes.span, at: &cursor) == .done)
    #expect(cursor == bytes.count - 1)
  }

  @Test("each code with which a SOCKS 5 proxy can refuse causes a different error", arguments: 1...UInt8.max)
  func refusals(code: UInt8) throws {
    let assigned: [SOCKS5Refusal] = [
      .generalFailure, .notAllowed, .networkUnreachable, .hostUnreachable, .connectionRefused, .timeToLiveExpired,
      .commandNotSupported, .addressTypeNotSupported,
    ]
    let refusal = code <= 8 ? assigned[Int(code) - 1] : .unassigned(code)
    // A complete reply, and one that ends after the code.
    for reply in [[5, code, 0, 1, 0, 0, 0, 0, 0, 0], [5, code]] {
      #expect(cause(try handshake(), [[5, 0], reply]) == .refusedBySOCKS(refusal))
    }
    #expect("\(ProxyError(.refusedBySOCKS(refusal), "p"))".contains("SOCKS reply \(code)"))
  }

  @Test("the errors for the different refusals of a SOCKS 5 proxy have different descriptions")
  func refusalTexts() {
    let texts = (1...9).compactMap { SOCKS5Refusal(code: $0) }.map { "\(ProxyError(.refusedBySOCKS($0), "p"))" }
    #expect(Set(texts).count == 9)
    #expect(SOCKS5Refusal(code: 0) == nil)
  }

  @Test("the SOCKS 5 client refuses a reply with another SOCKS version at the reply's first byte")
  func versions() throws {
    for version in (0...UInt8.max) where version != 5 {
      #expect(cause(try handshake(), [[version]]) == .notSOCKS5(version: version))
      #expect(cause(try handshake(), [[5, 0], [version]]) == .notSOCKS5(version: version))
    }
    for version in (0...UInt8.max) where version != 1 {
      #expect(
        cause(try handshake("socks5://u:p@h"), [[5, 2], [version]]) == .unexpectedAuthenticationVersion(version))
    }
    #expect(cause(try handshake(), [Array("HTTP/1.1 400".utf8)]) == .notSOCKS5(version: 0x48))
  }

  @Test("the SOCKS 5 client refuses a proxy that selects an authentication method that the client didn't offer")
  func methods() throws {
    let login = try handshake("socks5://u:p@h")
    for method in 1...UInt8.max {
      let expected: ProxyError.Cause =
        method == 255 ? .noAcceptableMethod(hasCredentials: false) : .unexpectedMethod(method)
      #expect(cause(try handshake(), [[5, method]]) == expected)
      guard method != 2 else { continue }
      let expectedOfLogin: ProxyError.Cause =
        method == 255 ? .noAcceptableMethod(hasCredentials: true) : .unexpectedMethod(method)
      #expect(cause(login, [[5, method]]) == expectedOfLogin)
    }
  }

  @Test("the client considers SOCKS credentials accepted only if the status in the proxy's reply is 0")
  func statuses() throws {
    for status in 1...UInt8.max {
      #expect(
        cause(try handshake("socks5://u:p@h"), [[5, 2], [1, status]]) == .credentialsRefused(status: status))
    }
  }

  @Test("the SOCKS 5 client refuses a reply with an unknown address type")
  func addressTypes() throws {
    for type in (0...UInt8.max) where ![1, 3, 4].contains(type) {
      #expect(cause(try handshake(), [[5, 0], [5, 0, 0, type]]) == .unexpectedAddressType(type))
    }
  }

  @Test("the error for a truncated SOCKS handshake states the number of received bytes")
  func truncations() throws {
    let dialogue: [[UInt8]] = [[5, 2], [1, 0], [5, 0, 0, 3, 3, 65, 66, 67, 0, 80]]
    let count = dialogue.joined().count
    for length in 0..<count {
      var handshake = try handshake("socks5://u:p@h")
      var left = length
      for reply in dialogue {
        var cursor = 0
        _ = try handshake.receive(Array(reply.prefix(left)).span, at: &cursor)
        left -= min(left, reply.count)
      }
      #expect(handshake.receiveEnd() == ProxyError(.truncated(received: length), "socks5://h:1080"))
    }
  }

  @Test("a SOCKS 5 handshake reads at most 262 bytes, whatever the proxy replies")
  func bounded() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var handshake = try handshake()
      // Half of the cases start with valid messages, to reach later states.
      let start: [UInt8] = Bool.random(using: &random) ? [5, 0, 5, 0, 0, [1, 3, 4][Int.random(in: 0..<3)]] : []
      let bytes = start + (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
      var cursor = 0
      var replies = 0
      while let step = try? handshake.receive(bytes.span, at: &cursor), case .send = step { replies += 1 }
      #expect(cursor <= 2 + 262)
      #expect(replies <= 1)
    }
  }
}
