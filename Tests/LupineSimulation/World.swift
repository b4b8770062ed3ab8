// World: state shared by all parts of a simulated run: the schedule, the clock, random numbers and violations found.

@testable import LupineEngine
@testable import LupineReactor

/// The shared state of one simulated run, confined to one thread.
final class World {
  let schedule: Schedule
  let agenda = Agenda()
  let executor = SimulatedExecutor()
  var random: Decisions
  var ledger = Ledger()
  /// Whether all faults are off, whatever the schedule says.
  var isCalm = false
  /// Descriptions of the rules that the run has violated.
  private(set) var violations: [String] = []
  /// Receives a line for each event, or nil if tracing is off. Tracing takes far more time than the run itself.
  private let trace: ((String) -> Void)?

  init(_ schedule: Schedule, trace: ((String) -> Void)?) {
    self.schedule = schedule
    self.trace = trace
    random = schedule.random
  }

  /// Draws whether a fault occurs now, with the schedule's probability.
  func strikes(_ fault: KeyPath<Faults, Int>, _ random: inout Decisions) -> Bool {
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

/// The faults that the world has injected, which justify the engine's errors.
struct Ledger {
  /// The attempts whose request head a server has read, by the request's number, in order.
  var attempts: [Int: [Attempt]] = [:]
  /// Hosts whose lookup was answered with "no such host", and hosts whose lookup failed for another reason.
  var unknownHosts: Set<String> = []
  var failedHosts: Set<String> = []
  /// Whether the engine ran out of descriptors, or couldn't watch one.
  var lackedResources = false
  /// Whether a connection attempt was refused, and whether one found its host unreachable.
  var wasRefused = false
  var wasUnreachable = false
  /// Whether a proxy misbehaved.
  var hasProxyFailed = false
  /// All connections ever started, by local port.
  var streams: [UInt16: SimulatedStream] = [:]
}
