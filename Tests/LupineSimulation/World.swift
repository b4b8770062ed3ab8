// World: state shared by all parts of a simulated run: the schedule, the clock, random numbers and violations found.

@testable import LupineEngine
@testable import LupineReactor

/// The state that all parts of one simulated run share. Only one thread may use it.
final class World {
  let schedule: Schedule
  let agenda = Agenda()
  let executor = SimulatedExecutor()
  var random: Decisions
  var ledger = Ledger()
  /// Whether all faults are turned off, regardless of the schedule.
  var isCalm = false
  /// Descriptions of the rules that the engine has broken during the run.
  private(set) var violations: [String] = []
  /// A closure that receives one line for each event, or nil if there is no trace. A trace takes far more time than the run itself.
  private let trace: ((String) -> Void)?

  init(_ schedule: Schedule, trace: ((String) -> Void)?) {
    self.schedule = schedule
    self.trace = trace
    random = schedule.random
  }

  /// Decides at random whether a fault occurs now, with the probability in the schedule.
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

/// The faults that have occurred during the run, which justify errors of the engine.
struct Ledger {
  /// The arrivals of each request at servers, in order, by the request's number. An arrival is added when a server has read the
  /// head.
  var attempts: [Int: [Attempt]] = [:]
  /// The hosts whose lookup was answered with "no such host". `failedHosts` contains those whose lookup failed for another reason.
  var unknownHosts: Set<String> = []
  var failedHosts: Set<String> = []
  /// Whether the engine has run out of descriptors, or couldn't watch one.
  var lackedResources = false
  /// Whether a server has refused a connection. `wasUnreachable` states whether a host was unreachable.
  var wasRefused = false
  var wasUnreachable = false
  /// Whether a proxy has misbehaved.
  var hasProxyFailed = false
  /// All connections that the engine has tried to open, by their local port.
  var streams: [UInt16: SimulatedStream] = [:]
}
