// SocketSimulation: a WebSocket channel with a simulated caller, and with a server that may break any rule.

import LupineEngine
import LupineOrigin
import LupineRandom
import LupineWebSocket
import Synchronization

/// One run, which a seed determines: messages of a server, which ends in one of many ways, and calls of a caller, in random order.
final class SocketSimulation {
  /// A server's last bytes, and what they lead to.
  struct Ending {
    let name: String
    let bytes: [UInt8]
    /// The ending that the channel reports. Nil if only the code of the Close frame is known.
    let expected: WebSocketChannel.Ending?
    let code: WebSocketCloseCode?

    init(_ name: String, _ frames: [ServerFrame], _ error: WebSocketError) {
      self.init(name, frames.flatMap(\.bytes), error)
    }

    init(_ name: String, _ bytes: [UInt8], _ error: WebSocketError) {
      (self.name, self.bytes, expected, code) = (name, bytes, .failed(error), error.closeCode)
    }

    init(_ name: String, _ bytes: [UInt8], _ expected: WebSocketChannel.Ending?, code: WebSocketCloseCode?) {
      (self.name, self.bytes, self.expected, self.code) = (name, bytes, expected, code)
    }
  }

  static let messageBytesMax = 30_000
  static let frameBytesMax = 25_000

  static let endings: [Ending] = [
    Ending(
      "closes", ServerFrame.close(4000, "x").bytes, .closed(WebSocketClose(.init(rawValue: 4000), reason: [0x78])),
      code: .init(rawValue: 4000)),
    Ending("closes without a code", ServerFrame(8).bytes, .closed(WebSocketClose(.noStatus)), code: .noStatus),
    Ending("is lost", [], .lost, code: nil),
    Ending("is lost within a header", [0x82, 126, 1], .lost, code: nil),
    Ending("is lost within a frame", Array(ServerFrame(2, [1, 2, 3]).bytes.dropLast()), .lost, code: nil),
    Ending("is lost within a message", ServerFrame(2, [1], isFinal: false).bytes, .lost, code: nil),
    Ending(
      "sends data after Close", ServerFrame.close(1000).bytes + [0xFF, 0x81, 0], .closed(WebSocketClose(.normal)),
      code: .normal),
    Ending("sets a reserved bit", [ServerFrame(1, [0x61], reservedBits: 1)], .reservedBits(1)),
    Ending(
      "sets a reserved bit in a continuation", [.text("a", isFinal: false), ServerFrame(0, reservedBits: 4)],
      .reservedBits(4)),
    Ending("sends a reserved opcode", [ServerFrame(7)], .reservedOpcode(7)),
    Ending("sends a reserved control opcode", [ServerFrame(15)], .reservedOpcode(15)),
    Ending("masks a frame", [ServerFrame(2, [1], mask: [1, 2, 3, 4])], .maskedFrame),
    Ending("pads a length", [0x82, 126, 0, 125], .malformedLength),
    Ending("pads a long length", [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .malformedLength),
    Ending("sends a negative length", [0x82, 127] + [UInt8](repeating: 0xFF, count: 8), .malformedLength),
    Ending("fragments a ping", [ServerFrame(9, [1], isFinal: false)], .fragmentedControlFrame),
    Ending("sends a long ping", [ServerFrame(9, [UInt8](repeating: 1, count: 126))], .controlFrameTooLong(126)),
    Ending("continues nothing", [ServerFrame(0, [1])], .unexpectedContinuation),
    Ending("interrupts a message", [.text("a", isFinal: false), .text("b")], .interruptedMessage),
    Ending("sends invalid text", [ServerFrame(1, [0xC3, 0x28])], .invalidUTF8),
    Ending(
      "ends text within a character", [ServerFrame(1, [0xE2, 0x82], isFinal: false), ServerFrame(0, [])],
      .invalidUTF8),
    Ending("sends a surrogate", [ServerFrame(1, [0xED, 0xA0, 0x80])], .invalidUTF8),
    Ending("closes with invalid text", [ServerFrame(8, [0x03, 0xE8, 0xFF])], .invalidUTF8),
    Ending("closes with one byte", [ServerFrame(8, [3])], .closePayloadTooShort),
    Ending("closes with a forbidden code", [.close(1006)], .forbiddenCloseCode(1006)),
    Ending("closes with a small code", [.close(0)], .forbiddenCloseCode(0)),
    Ending(
      "announces a huge frame", [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
      .frameTooBig(limit: frameBytesMax)),
    Ending(
      "sends a message without end",
      [UInt8](repeating: 0, count: 100_000).chunks(of: 1000).enumerated().flatMap {
        ServerFrame($0 == 0 ? 2 : 0, $1, isFinal: false).bytes
      }, .messageTooBig(limit: messageBytesMax)),
    Ending("compresses invalid data", ServerFrame(2, [0xFF, 0xFF], reservedBits: 4).bytes, nil, code: .invalidData),
  ]

  /// The events so far.
  private final class Journal: Sendable {
    struct State {
      var received: [WebSocketMessage] = []
      var endings: [WebSocketChannel.Ending] = []
      /// The number of messages that were received before the end was reported.
      var receivedBeforeEnd = 0
      var window = 64 << 10
      /// The number of calls that aren't complete, and of those that were completed twice.
      var (openCalls, repeatedCalls) = (0, 0)
      var isSending = false
      var hasFailedReceiver = false
    }

    let state = Mutex(State())

    func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Returns a closure that must be called exactly once.
    func call(_ change: @escaping @Sendable (inout State) -> Void = { _ in }) -> @Sendable () -> Void {
      let isComplete = Atomic(false)
      note { $0.openCalls += 1 }
      return {
        let isRepeated = isComplete.exchange(true, ordering: .relaxed)
        self.note { state in
          if isRepeated { state.repeatedCalls += 1 } else { state.openCalls -= 1 }
          change(&state)
        }
      }
    }
  }

  let ending: Ending
  private(set) var violations: [String] = []
  private var random: SplitMix64
  private let journal = Journal()
  private let channel: WebSocketChannel
  private let writer: BodyWriter
  private let clock = ManualTimer()
  private let wire: [UInt8]
  private let messages: [WebSocketMessage]
  private var cursor = 0
  /// The payloads of the caller's messages, and the bytes that the client has sent.
  private var sent: [[UInt8]] = []
  private var output: [UInt8] = []
  private var hasClosed = false

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    ending = Self.endings[Int(seed) % Self.endings.count]
    var (wire, messages): ([UInt8], [WebSocketMessage]) = ([], [])
    for _ in 0..<random.number(0...12) { Self.add(&random, &wire, &messages) }
    wire += ending.bytes
    // Bytes after a violation or a Close frame are ignored.
    if ending.code != nil { wire += (0..<random.number(0...50)).map { _ in UInt8.random(in: 0...255, using: &random) } }
    (self.wire, self.messages, self.random) = (wire, messages, random)
    var limits = WebSocketLimits()
    (limits.messageBytesMax, limits.frameBytesMax) = (Self.messageBytesMax, Self.frameBytesMax)
    var timeouts = WebSocketTimeouts()
    timeouts.untakenMessages = nil
    channel = WebSocketChannel(limits: limits, timeouts: timeouts, timer: clock.timer)
    writer = BodyWriter(notify: {})
  }

  private static let letters = (0..<24_000).map { UInt8(97 + $0 % 26) }

  /// Adds a message in fragments, with pings and pongs between them.
  private static func add(_ random: inout SplitMix64, _ wire: inout [UInt8], _ messages: inout [WebSocketMessage]) {
    let isText = Bool.random(using: &random)
    let size = random.pick([0, 1, 125, 126, 300, 5000, 24_000])
    let bytes = [UInt8](letters.prefix(size))
    messages.append(isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes))
    var parts = bytes.chunks(of: max(1, random.pick([size, size / 2, size / 7 + 1])))
    if parts.isEmpty { parts = [[]] }
    for (index, part) in parts.enumerated() {
      wire += ServerFrame(index > 0 ? 0 : isText ? 1 : 2, part, isFinal: index == parts.count - 1).bytes
      for _ in 0..<random.pick([0, 0, 1, 3]) {
        wire += ServerFrame(random.pick([9, 10]), [UInt8](bytes.prefix(9))).bytes
      }
    }
  }

  func run() {
    defer { clock.end() }
    let journal = journal
    channel.connect(
      to: WebSocketChannel.Transport(
        windowBytes: 64 << 10, extendWindow: { count in journal.note { $0.window += count } }, close: {},
        onEnd: { ending in
          journal.note {
            $0.endings.append(ending)
            $0.receivedBeforeEnd = $0.received.count
          }
        }))
    channel.attach(writer)
    channel.open(WebSocketAgreement(deflate: ending.code == .invalidData ? DeflateParameters() : nil))
    for _ in 0..<random.number(0...60) { act() }
    // The caller receives until the end, and the server reads and sends the rest.
    for _ in 0..<1000 {
      if cursor == wire.count, journal.state.withLock({ $0.hasFailedReceiver }) { break }
      receive()
      deliver(Int.max)
      drain()
    }
    channel.transportEnded()
    drain()
    check()
  }

  private func act() {
    switch random.number(0...11) {
    case 0...3: deliver(random.pick([1, 2, 7, 500, 70_000]))
    case 4, 5: receive()
    case 6, 7: send()
    case 8:
      let complete = journal.call()
      channel.ping { _ in complete() }
    case 9, 10: drain()
    default: if random.number(0...9) == 0 { hasClosed = channel.close(WebSocketClose(.goingAway)) || hasClosed }
    }
  }

  /// Delivers bytes of the server as far as the window permits, and the loss of the connection.
  private func deliver(_ countMax: Int) {
    let count = min(countMax, journal.state.withLock { $0.window }, wire.count - cursor)
    journal.note { $0.window -= count }
    let piece = Array(wire[cursor..<cursor + count])
    cursor += count
    channel.receive(bytes: piece.span)
    if cursor == wire.count, ending.code == nil { channel.transportEnded() }
  }

  private func receive() {
    let complete = journal.call()
    channel.receive { [journal] result in
      complete()
      journal.note { state in
        if case .success(let message) = result {
          state.received.append(message)
        } else {
          state.hasFailedReceiver = true
        }
      }
    }
  }

  /// Sends a message, unless the previous one waits for room.
  private func send() {
    guard !journal.state.withLock({ $0.isSending }) else { return }
    journal.note { $0.isSending = true }
    let payload = (0..<random.number(0...120)).map { UInt8(65 + $0 % 26) }
    let complete = journal.call { $0.isSending = false }
    channel.send(.binary(payload)) { _ in complete() }
    sent.append(payload)
  }

  private func drain() {
    while case .bytes(let bytes)? = try? writer.takeBuffered() {
      // 64 KiB, a frame, and the answer to one ping.
      if bytes.count > 65 << 10 { violations.append("\(bytes.count) bytes were buffered to be sent") }
      output += bytes
    }
  }

  // MARK: Rules

  private func check() {
    let state = journal.state.withLock { $0 }
    require(state.openCalls == 0 && state.repeatedCalls == 0, "\(state.openCalls) calls are open")
    require(state.endings.count == 1, "the end was reported \(state.endings.count) times")
    require(state.receivedBeforeEnd == state.received.count, "messages were received after the end")
    require(messages.starts(with: state.received), "other messages were received than sent")
    checkOutput()
    guard !hasClosed else { return }
    require(state.received.count == messages.count, "\(messages.count - state.received.count) messages are lost")
    if let expected = ending.expected {
      require(state.endings.first == expected, "ended with \(state.endings)")
    } else {
      guard case .failed(let error)? = state.endings.first else { return require(false, "ended with \(state.endings)") }
      require(error.closeCode == ending.code, "failed with \(error)")
    }
  }

  private func checkOutput() {
    var frames: [ServerFrame] = []
    while let frame = ServerFrame.remove(from: &output) { frames.append(frame) }
    require(output.isEmpty, "\(output.count) bytes of the client aren't a frame")
    require(frames.allSatisfy { $0.mask.count == 4 && $0.isFinal && $0.reservedBits == 0 }, "a malformed frame")
    require(sent.starts(with: frames.filter { $0.opcode == 2 }.map(\.payload)), "other messages were sent")
    let closes = frames.filter { $0.opcode == 8 }.map(\.payload)
    let code = hasClosed ? .goingAway : ending.code
    require(closes == (code.map { [$0 == .noStatus ? [] : ServerFrame.close($0.rawValue).payload] } ?? []), "\(closes)")
    require(closes.isEmpty || frames.last?.opcode == 8, "the client sent a frame after its Close frame")
  }

  private func require(_ condition: Bool, _ rule: @autoclosure () -> String) {
    if !condition { violations.append(rule()) }
  }
}

extension [UInt8] {
  fileprivate func chunks(of size: Int) -> [[UInt8]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
