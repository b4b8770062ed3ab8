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

  /// A request body that a producer writes while it is sent.
  struct Production: Sendable {
    let byteCount: Int
    let isLengthDeclared: Bool
    let isReplayable: Bool
    let random: Decisions
    /// The number of bytes after which the producer throws an error, or nil if it never throws.
    let failsAt: Int?
  }

  enum Act: Sendable {
    case cancel, pause, resume, extendWindow(Int), discardBody
  }

  let number: Int
  let origin: Int
  let method: String
  let content: Content
  /// Whether the request offers an upgrade to another protocol. If the server accepts, the client sends the body in that protocol.
  let offersUpgrade: Bool
  let expectsContinue: Bool
  let asksForClose: Bool
  let timeouts: Timeouts
  let bodyBytesMax: Int
  /// The initial receive window of the request's sink, in bytes. With `.max`, the window is unlimited.
  let windowBytes: Int
  /// Whether the sink extends its receive window by the number of received bytes as soon as it receives them, from inside the
  /// callback.
  let extendsWindowAtOnce: Bool
  let disposition: BodyDisposition
  /// The time of the request's submission, measured from the start of the schedule. Not used if `follows` isn't nil.
  let start: Duration
  /// The number of the request whose end submits this one, from inside the callback. Nil if the request is submitted at `start`.
  let follows: Int?
  /// The caller's actions, such as pausing the request, with their times measured from the start of the schedule.
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
    // A sink that extends its window from inside the callback must be able to receive something first.
    windowBytes = random.chance(70) ? .max : random.number((isBenign ? 1 : 0)...100)
    // Every request of a schedule without faults must succeed without further calls.
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

  /// Finite time limits that are longer than a server without faults ever needs. If a request gets stuck, it fails at its limit.
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

  /// Returns a pause of the request that the caller ends later, or no action.
  private static func harmlessActs(_ start: Duration, _ random: inout Decisions) -> [(time: Duration, act: Act)] {
    guard random.chance(30) else { return [] }
    let pause = start + random.duration(500)
    return [(pause, .pause), (pause + random.duration(2_000), .resume)]
  }
}

extension PlannedRequest {
  /// The bytes of the request's body: a slice of a fixed pattern. Each request has a different slice.
  var bodyBytes: ArraySlice<UInt8> {
    switch content {
    case .none: []
    case .bytes(let count): SimulatedBytes.request(number, count)
    case .produced(let production): SimulatedBytes.request(number, production.byteCount)
    }
  }

  /// Whether the client may send the request twice.
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
          // The simulation's own executor makes the order of events independent of thread scheduling.
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

/// Patterns of bytes for bodies. The bytes show to which request or response a part of a body belongs.
enum SimulatedBytes {
  private static let bytes: [UInt8] = {
    var random = SplitMix64(seed: 1)
    return (0..<400_000).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
  }()

  static func request(_ number: Int, _ count: Int) -> ArraySlice<UInt8> {
    bytes[number * 1_009..<number * 1_009 + count]
  }

  /// Returns the body of the response to a request. `attempt` is the number of earlier times that a server received the request.
  static func response(_ number: Int, _ attempt: Int, _ count: Int) -> ArraySlice<UInt8> {
    let start = 100_000 + number * 1_013 + attempt * 97
    return bytes[start..<start + count]
  }

  /// Returns whether part of a response's body has the bytes that are expected at `offset`.
  static func isResponse(_ piece: borrowing Span<UInt8>, _ number: Int, _ attempt: Int, at offset: Int) -> Bool {
    let start = 100_000 + number * 1_013 + attempt * 97 + offset
    guard start + piece.count <= bytes.count else { return false }
    for index in 0..<piece.count where piece[index] != bytes[start + index] { return false }
    return true
  }
}
