// PlannedRequest: one request of a schedule, and what its caller does while it runs.

import LupineRandom

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

struct PlannedRequest: Sendable {
  enum Content: Sendable {
    case none
    case bytes(Int)
    case produced(Production)
  }

  /// The way in which a producer writes its body.
  struct Production: Sendable {
    let byteCount: Int
    let isLengthDeclared: Bool
    let isReplayable: Bool
    let random: Decisions
    /// The number of bytes after which the producer throws, or nil if it doesn't.
    let failsAt: Int?
  }

  enum Act: Sendable {
    case cancel, pause, resume, extendWindow(Int), discardBody
  }

  let number: Int
  let origin: Int
  let method: String
  let content: Content
  /// Whether the request offers to switch protocols; its body is then sent in the new protocol.
  let offersUpgrade: Bool
  let expectsContinue: Bool
  let asksForClose: Bool
  let timeouts: Timeouts
  let bodyBytesMax: Int
  /// The number of bytes that the sink accepts before it extends its window; `.max` means no limit.
  let windowBytes: Int
  /// Whether the sink extends its window by the received bytes immediately, from inside the callback.
  let extendsWindowAtOnce: Bool
  let disposition: BodyDisposition
  /// The submission time since the schedule's start, unless the request follows another.
  let start: Duration
  /// The number of the request at whose end this one is submitted, from inside the callback.
  let follows: Int?
  /// The caller's actions, with their times since the schedule's start.
  let acts: [(time: Duration, act: Act)]

  init(number: Int, originCount: Int, isBenign: Bool, _ random: inout Decisions) {
    self.number = number
    origin = random.number(0...originCount - 1)
    method = random.pick(["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT"])
    offersUpgrade = method == "GET" && random.chance(15)
    let hasBody = offersUpgrade || method == "POST" || method == "PUT"
    content = hasBody ? Self.content(isBenign: isBenign, &random) : .none
    expectsContinue = if offersUpgrade { false } else if case .none = content { false } else { random.chance(25) }
    asksForClose = !offersUpgrade && random.chance(5)
    timeouts = isBenign ? Self.generousTimeouts : Self.timeouts(&random)
    bodyBytesMax = !isBenign && random.chance(5) ? random.number(0...200) : .max
    // A sink that extends its window from inside the callback must receive something first.
    windowBytes = random.chance(70) ? .max : random.number((isBenign ? 1 : 0)...100)
    // Every request of a benign schedule has to succeed unaided.
    extendsWindowAtOnce = isBenign || random.chance(70)
    disposition = random.chance(5) ? .discard : .deliver
    start = random.duration(1_000)
    follows = number > 0 && random.chance(25) ? random.number(0...number - 1) : nil
    acts = isBenign ? Self.harmlessActs(start, &random) : Self.acts(start, &random)
  }

  private static func content(isBenign: Bool, _ random: inout Decisions) -> Content {
    let byteCount = random.byteCount()
    guard random.chance(40) else { return .bytes(byteCount) }
    return .produced(
      Production(
        byteCount: byteCount, isLengthDeclared: random.chance(50), isReplayable: random.chance(50),
        random: random.fork(), failsAt: !isBenign && random.chance(10) ? random.number(0...byteCount) : nil))
  }

  /// Limits longer than a server without faults ever needs, but finite, so that a stuck request fails.
  private static var generousTimeouts: Timeouts {
    var timeouts = Timeouts(everyPhase: .seconds(600), total: .seconds(3_000))
    timeouts.awaitContinue = .milliseconds(200)
    return timeouts
  }

  private static func timeouts(_ random: inout Decisions) -> Timeouts {
    func limit(_ nilPercent: Int = 10) -> Duration? {
      random.chance(nilPercent)
        ? nil
        : random.chance(50) ? .seconds(60) : .nanoseconds(random.number(1...2_000_000_000 >> random.number(0...9)))
    }
    var timeouts = Timeouts()
    (timeouts.poolWait, timeouts.send, timeouts.awaitContinue) = (limit(), limit(), limit())
    (timeouts.firstByte, timeouts.idle, timeouts.total) = (limit(), limit(), limit(70))
    (timeouts.resolve, timeouts.connect, timeouts.proxy) = (limit(2), limit(2), limit(2))
    return timeouts
  }

  private static func acts(_ start: Duration, _ random: inout Decisions) -> [(time: Duration, act: Act)] {
    guard random.chance(40) else { return [] }
    return (0..<random.number(1...4)).map { _ in
      let act: Act =
        switch random.number(0...9) {
        case 0, 1: .cancel
        case 2, 3, 4: .pause
        case 5, 6: .resume
        case 7, 8: .extendWindow(random.number(0...300))
        default: .discardBody
        }
      return (start + random.duration(1_500), act)
    }
  }

  /// Returns a pause followed by a resume.
  private static func harmlessActs(_ start: Duration, _ random: inout Decisions) -> [(time: Duration, act: Act)] {
    guard random.chance(30) else { return [] }
    let pause = start + random.duration(500)
    return [(pause, .pause), (pause + random.duration(2_000), .resume)]
  }
}

extension PlannedRequest {
  /// The body's bytes: a slice of a fixed pattern that differs from other requests' slices.
  var bodyBytes: ArraySlice<UInt8> {
    switch content {
    case .none: []
    case .bytes(let count): SimulatedBytes.request(number, count)
    case .produced(let production): SimulatedBytes.request(number, production.byteCount)
    }
  }

  /// Whether the request may be sent twice without harm.
  var isIdempotent: Bool { method != "POST" }

  func engineRequest(_ origin: Origin, _ executor: SimulatedExecutor) throws -> EngineRequest {
    var fields: Fields = [:]
    if expectsContinue { fields.append(name: "Expect", value: "100-continue") }
    if offersUpgrade {
      fields.append(name: "Connection", value: "Upgrade")
      fields.append(name: "Upgrade", value: "other")
    }
    if asksForClose { fields.append(name: "Connection", value: "close") }
    let body: RequestBody =
      switch content {
      case .none: RequestBody()
      case .bytes: RequestBody(Array(bodyBytes))
      case .produced(let production): Self.body(bodyBytes, production, executor)
      }
    var request = EngineRequest(
      method: method, uri: try URI("\(origin)/r/\(number)"), fields: fields, body: body, timeouts: timeouts)
    request.bodyBytesMax = bodyBytesMax
    return request
  }

  private static func body(
    _ bytes: ArraySlice<UInt8>, _ production: Production, _ executor: SimulatedExecutor
  ) -> RequestBody {
    var body = RequestBody()
    let byteCount = production.isLengthDeclared ? UInt64(production.byteCount) : nil
    body.append(
      .produced(
        RequestBody.Producer(byteCount: byteCount, isReplayable: production.isReplayable) { writer in
          // The simulation's own executor keeps the order of events independent of thread scheduling.
          Task(executorPreference: executor) {
            do {
              try await Self.produce(bytes, production, writer, executor)
              writer.end()
            } catch {
              writer.end(throwing: error)
            }
          }
        }))
    return body
  }

  private struct ProductionFailed: Error {}

  private static func produce(
    _ bytes: ArraySlice<UInt8>, _ production: Production, _ writer: BodyWriter, _ executor: SimulatedExecutor
  ) async throws {
    var random = production.random
    var rest = bytes.prefix(production.failsAt ?? .max)
    while !rest.isEmpty {
      if random.chance(50) { await executor.pass(random.duration(300)) }
      let piece = rest.prefix(random.chance(50) ? random.number(1...40) : random.number(1...70_000))
      rest = rest.dropFirst(piece.count)
      try await writer.write(Array(piece))
    }
    if production.failsAt != nil { throw ProductionFailed() }
  }
}

/// Byte patterns that identify the request or response to which a piece of a body belongs.
enum SimulatedBytes {
  private static let bytes: [UInt8] = {
    var random = SplitMix64(seed: 1)
    return (0..<400_000).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
  }()

  static func request(_ number: Int, _ count: Int) -> ArraySlice<UInt8> {
    bytes[number * 1_009..<number * 1_009 + count]
  }

  /// Returns a response's body, given the request's number and how often servers had received it before.
  static func response(_ number: Int, _ attempt: Int, _ count: Int) -> ArraySlice<UInt8> {
    let start = 100_000 + number * 1_013 + attempt * 97
    return bytes[start..<start + count]
  }

  /// Returns whether a piece of a response's body has the bytes expected at that offset.
  static func isResponse(_ piece: borrowing Span<UInt8>, _ number: Int, _ attempt: Int, at offset: Int) -> Bool {
    let start = 100_000 + number * 1_013 + attempt * 97 + offset
    guard start + piece.count <= bytes.count else { return false }
    for index in 0..<piece.count where piece[index] != bytes[start + index] { return false }
    return true
  }
}
