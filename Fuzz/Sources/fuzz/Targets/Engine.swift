// The pool and the engine, driven by operations and a virtual clock.

@testable import LupineEngine

extension FuzzTarget {
  /// Input: four bytes of a seed, then the decisions: the pool's limits, followed by events.
  static let pool = FuzzTarget(
    name: "pool", summary: "no sequence of events breaks a rule of the pool's model, and nothing is left at its end"
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

  /// Input: four bytes of a seed, then the decisions: the schedule, followed by actions of the network and the servers.
  static let exchange = FuzzTarget(
    name: "exchange",
    summary: "in a simulated run, every request ends once, with a response or a reason",
    // Creates a table of bytes, which would otherwise consume the first input's decisions.
    prepare: { _ = SimulatedBytes.request(0, 0) }
  ) { bytes in
    // An input may report an unready descriptor as ready in each iteration.
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
