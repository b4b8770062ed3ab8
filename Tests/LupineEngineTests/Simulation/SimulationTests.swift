// Whole schedules, one for each seed: what an engine, its servers and its network may do to each other.
//
// A seed that fails is run again alone, with everything that happens, by LUPINE_SIMULATION_SEED=… swift test --filter
// SimulationTests. `make simulate SEEDS=…` runs many, optimised.

import Glibc
import LupineReactor
import LupineTestSupport
import Testing

@testable import LupineEngine

@Suite("The engine in simulated worlds")
struct SimulationTests {
  /// How many seeds are run unless the environment says otherwise.
  private static let seedCount: UInt64 = 1_500

  private struct Settings {
    /// The one that is run alone, or nil.
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

  /// What has to have come about in so many schedules, or they test less than they should.
  private static let endings: Set<String> = [
    "success", "switched", "sent again", "cancelled", "hostNotFound", "resolveFailed", "outOfResources",
    "connectionRefused", "connectFailed", "proxyFailed", "connectionLost", "malformedResponse", "bodyTooLarge",
    "bodyUnreadable", "shutDown", "timedOut poolWait", "timedOut resolve", "timedOut connect", "timedOut proxy",
    "timedOut send", "timedOut firstByte", "timedOut receive", "total",
  ]

  @Test("every request ends once, well or for a reason, and nothing is left")
  func schedules() async throws {
    let settings = Settings()
    // On a thread of its own, since tests that wait for real time run beside it.
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
        let again = "Seed \(seed) broke a rule, but not again; hash tables differ from run to run: \(violation)"
        return (describe(seed) ?? again, endings)
      }
      endings.formUnion(simulation.endings)
    }
    return (nil, endings)
  }

  /// Writes what happens in the schedule of a seed, line by line, and says which rule it broke.
  private static func describe(_ seed: UInt64) -> String? {
    // At once, so that the last line before a crash is seen too.
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

/// Holds the seed that is being run, for whoever wants to know at which one the program has crashed or hung.
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
