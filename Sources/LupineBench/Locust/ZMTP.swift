// ZMTP: the transport protocol of ZeroMQ, version 3.0 (rfc.zeromq.org/spec/23), as a DEALER with the security mechanism NULL.
// Without I/O.

#if Bench
  /// Why the bytes of a peer aren't ZMTP 3 with the mechanism NULL.
  enum ZMTPError: Error, Equatable {
    case notZMTP
    case otherMechanism
    case tooLong(byteCount: UInt64)
    case malformedCommand
  }

  /// The receiving side of a connection, and the bytes to send.
  struct ZMTP {
    /// The largest message that is received: 16 MiB. Locust's are at most some kilobytes.
    static let messageBytesMax: UInt64 = 16 << 20
    private static let greetingBytes = 64

    private enum State {
      case greeting
      case handshake
      case traffic
    }

    private var state = State.greeting
    private var received: [UInt8] = []
    /// The parts of the message that is being received.
    private var parts: [UInt8] = []

    /// Whether the handshake is complete, so that messages may be sent.
    var isReady: Bool { if case .traffic = state { true } else { false } }

    // signature = %xFF 8%x00 %x7F; version 3.0; mechanism = "NULL" 16%x00; as-server = %x00; filler = 31%x00
    /// The first bytes to send.
    static let greeting: [UInt8] =
      [0xFF] + Array(repeating: 0, count: 8) + [0x7F, 3, 0] + Array("NULL".utf8) + Array(repeating: 0, count: 48)

    /// The command that follows the greeting: READY with the socket's type and identity.
    static func ready(identity: String) -> [UInt8] {
      var body: [UInt8] = [5] + Array("READY".utf8)
      for (name, value) in [("Socket-Type", "DEALER"), ("Identity", identity)] {
        body += [UInt8(name.utf8.count)] + Array(name.utf8)
        body += UInt32(value.utf8.count).bigEndianBytes
        body += value.utf8
      }
      return frame(flags: 0x04, body)
    }

    /// The frame of a message with one part.
    static func message(_ body: [UInt8]) -> [UInt8] { frame(flags: 0, body) }

    private static func frame(flags: UInt8, _ body: [UInt8]) -> [UInt8] {
      guard body.count > 255 else { return [flags, UInt8(body.count)] + body }
      let frame = [flags | 0x02]
      return frame + UInt64(body.count).bigEndianBytes + body
    }

    /// Processes received bytes, and returns the messages that they complete.
    mutating func receive(_ bytes: [UInt8]) throws(ZMTPError) -> [[UInt8]] {
      received += bytes
      var messages: [[UInt8]] = []
      if case .greeting = state {
        guard received.count >= Self.greetingBytes else { return [] }
        guard received[0] == 0xFF, received[9] == 0x7F, received[10] >= 3 else { throw .notZMTP }
        guard received[12..<32].elementsEqual(Self.greeting[12..<32]) else { throw .otherMechanism }
        received.removeFirst(Self.greetingBytes)
        state = .handshake
      }
      while let (flags, body) = try nextFrame() {
        guard flags & 0x04 == 0 else {
          // command = command-size command-name command-data. The peer's READY ends the handshake; others, such as PING, are optional.
          if body.starts(with: [5] + Array("READY".utf8)) { state = .traffic }
          if body.starts(with: [5] + Array("ERROR".utf8)) { throw .malformedCommand }
          continue
        }
        guard isReady else { throw .malformedCommand }
        guard UInt64(parts.count + body.count) <= Self.messageBytesMax else {
          throw .tooLong(byteCount: UInt64(parts.count + body.count))
        }
        parts += body
        // Locust's master sends one part. If there are several, the first ones are an empty delimiter.
        if flags & 0x01 == 0 {
          messages.append(parts)
          parts = []
        }
      }
      return messages
    }

    private mutating func nextFrame() throws(ZMTPError) -> (flags: UInt8, body: [UInt8])? {
      guard received.count >= 2 else { return nil }
      let flags = received[0]
      let isLong = flags & 0x02 != 0
      let headBytes = isLong ? 9 : 2
      guard received.count >= headBytes else { return nil }
      let count = received[1..<headBytes].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard count <= Self.messageBytesMax else { throw .tooLong(byteCount: count) }
      guard UInt64(received.count - headBytes) >= count else { return nil }
      let body = Array(received[headBytes..<headBytes + Int(count)])
      received.removeFirst(headBytes + Int(count))
      return (flags, body)
    }
  }
#endif
