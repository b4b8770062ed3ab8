// The pool and the engine as lists of operations, with a clock that passes only when they say so.

@testable import LupineEngine

extension FuzzTarget {
  /// Input: four bytes of a seed, then what decides: first the pool's limits, then event after event.
  static let pool = FuzzTarget(
    name: "pool", summary: "no history of the pool breaks a rule of its model, and nothing is left at its end"
  ) { bytes in
    var model = PoolModel(seed: begin(bytes))
    do {
      for _ in 0..<min(bytes.count, 400) { try model.step() }
      DecisionTape.load([])
      if model.seed % 3 == 0 { try model.shutDown() } else { try model.finish() }
    } catch {
      hold(false, "\(error)")
    }
  }

  /// Input: four bytes of a seed, then what decides: the schedule, then what the network and the servers do.
  static let exchange = FuzzTarget(
    name: "exchange",
    summary: "in a simulated world every request ends once, well or for a reason, and nothing is left",
    // Its table of bytes would take the first input's.
    prepare: { _ = SimulatedBytes.request(0, 0) }
  ) { bytes in
    // An input may say at every turn that something is reported which isn't ready.
    let simulation = Simulation(seed: begin(bytes), idleTurnsMax: 40 + bytes.count)
    simulation.run()
    DecisionTape.load([])
    if let violation = simulation.world.violations.first { hold(false, "\(violation)\n\(simulation.world.schedule)") }
  }

  private static func begin(_ bytes: [UInt8]) -> UInt64 {
    DecisionTape.load(Array(bytes.dropFirst(4)))
    return bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
