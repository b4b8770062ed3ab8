// What all parts of a simulated run share: its schedule, its time, its chance, and what was found wrong.

@testable import LupineEngine
@testable import LupineReactor

/// The place of one simulated run. One thread touches it.
final class World {
  let schedule: Schedule
  let agenda = Agenda()
  let executor = SimulatedExecutor()
  var random: SplitMix64
  var ledger = Ledger()
  /// Whether nothing goes wrong any more, whatever the schedule says.
  var isCalm = false
  /// The rules that were broken.
  private(set) var violations: [String] = []
  /// Takes what happens, line by line; nil if nobody wants to read it, since it costs far more than the run itself.
  private let trace: ((String) -> Void)?

  init(_ schedule: Schedule, trace: ((String) -> Void)?) {
    self.schedule = schedule
    self.trace = trace
    random = schedule.random
  }

  /// Whether something goes wrong now, that does so in so many of a hundred cases.
  func strikes(_ fault: KeyPath<Faults, Int>, _ random: inout SplitMix64) -> Bool {
    !isCalm && random.chance(schedule.faults[keyPath: fault])
  }

  func note(_ text: @autoclosure () -> String) {
    guard let trace else { return }
    let microseconds = (agenda.now.nanoseconds - 1_000_000_000) / 1_000
    let padded = String(microseconds + 10_000_000).dropFirst()
    trace("\(microseconds / 10_000_000)\(padded) µs  \(text())")
  }

  func violate(_ text: @autoclosure () -> String) {
    let text = text()
    violations.append(text)
    note("VIOLATION: \(text)")
  }

  func require(_ condition: Bool, _ rule: @autoclosure () -> String) {
    if !condition { violate(rule()) }
  }
}

/// What the world has done to the engine, from which follows what the engine may say.
struct Ledger {
  /// Requests that servers have seen the head of, by their number, in order.
  var attempts: [Int: [Attempt]] = [:]
  /// Hosts of which a lookup was answered by "no such host", or failed otherwise.
  var unknownHosts: Set<String> = []
  var failedHosts: Set<String> = []
  /// Whether there was no descriptor, or one that couldn't be watched.
  var lackedResources = false
  /// Whether a connect failed in that way.
  var wasRefused = false
  var wasUnreachable = false
  /// Whether a proxy didn't do as it was asked.
  var hasProxyFailed = false
  /// Every connection that was begun, by its local port.
  var streams: [UInt16: SimulatedStream] = [:]
}
