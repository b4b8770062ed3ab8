// SimulationTests: runs complete schedules, one per seed, with random requests, server behavior and network faults.
//
// To run one failing seed alone, with a trace of every event: LUPINE_SIMULATION_SEED=… swift test --filter
// SimulationTests. `make simulate SEEDS=…` runs many seeds with optimization.

import Glibc
import LupineReactor
import LupineTestSupport
import Testing

@testable import LupineSimulation

@Suite("The engine in simulations")
struct SimulationTests {
  /// The default number of schedules to simulate, one per seed. LUPINE_SIMULATION_SEEDS overrides it.
  private static let seedCount: UInt64 = 1_500

  private struct Settings {
    /// The only seed to simulate, or nil to simulate all.
    var seed: UInt64?
    var first: UInt64 = 1
    var count = UInt64(repetitions(of: Int(seedCount)))
    var file: SeedFile?

    init() {
      let values = Environment.values(of: ["SEED", "FIRST", "SEEDS", "FILE"].map { "LUPINE_SIMULATION_\($0)" })
      func number(_ name: String) -> UInt64? { values["LUPINE_SIMULATION_\(name)"].flatMap { UInt64($0) } }
      seed = number("SEED")
      first = number("FIRST") ?? first
      count = number("SEEDS") ?? count
      file = values["LUPINE_SIMULATION_FILE"].map(SeedFile.init)
    }
  }

  /// The outcomes of requests that all schedules together must produce. If one never occurs, the simulation covers too little.
  private static let endings: Set<String> = [
    "success", "switched", "sent again", "cancelled", "hostNotFound", "resolveFailed", "outOfResources",
    "connectionRefused", "connectFailed", "proxyFailed", "connectionLost", "malformedResponse", "bodyTooLarge",
    "bodyUnreadable", "shutDown", "timedOut poolWait", "timedOut resolve", "timedOut connect", "timedOut proxy",
    "timedOut send", "timedOut firstByte", "timedOut receive", "total",
  ]

  @Test(
    "every simulated request ends exactly once, with a response or a justified error, and all resources are freed")
  func schedules() async throws {
    let settings = Settings()
    // The simulation runs on a separate thread, because tests that wait for real time run concurrently.
    let (failure, endings) = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<(String?, Set<String>), any Error>) in
      do {
        try Thread.start(name: "simulation") { continuation.resume(returning: Self.run(settings)) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    if let failure { Issue.record("\(failure)") }
    if failure == nil, settings.seed == nil, settings.count >= Self.seedCount {
      #expect(endings.isSuperset(of: Self.endings), "missing: \(Self.endings.subtracting(endings))")
    }
  }

  private static func run(_ settings: Settings) -> (failure: String?, endings: Set<String>) {
    if let seed = settings.seed { return (describe(seed), []) }
    var endings: Set<String> = []
    for seed in settings.first..<settings.first + settings.count {
      settings.file?.write(seed)
      let simulation = Simulation(seed: seed)
      simulation.run()
      if let violation = simulation.world.violations.first {
        let again = "Seed \(seed) broke a rule, but not when repeated; hash tables differ between runs: \(violation)"
        return (describe(seed) ?? again, endings)
      }
      endings.formUnion(simulation.endings)
    }
    return (nil, endings)
  }

  /// Simulates one schedule, and prints a trace of every event. Returns a description of the broken rule, or nil if there is none.
  private static func describe(_ seed: UInt64) -> String? {
    // Unbuffered, so that the last line before a crash is written.
    let simulation = Simulation(seed: seed) { line in
      let bytes = Array("\(line)\n".utf8)
      _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
    simulation.run()
    return simulation.world.violations.first.map { violation in
      """
      Seed \(seed) broke a rule: \(violation).
      \(simulation.world.schedule)
      To run it alone: LUPINE_SIMULATION_SEED=\(seed) swift test --filter SimulationTests
      """
    }
  }
}

/// A file that contains the current seed. After a crash or a hang, it identifies the schedule.
private struct SeedFile {
  private let descriptor: CInt

  init(path: String) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  }

  func write(_ seed: UInt64) {
    let bytes = Array("\(seed)\n".utf8)
    _ = pwrite(descriptor, bytes, bytes.count, 0)
  }
}
