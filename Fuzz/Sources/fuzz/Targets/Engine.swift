// The pool and the engine, driven by operations and a virtual clock.

@testable import LupineSimulation

extension FuzzTarget {
  /// Fuzzes the connection pool. The input consists of a seed of four bytes, the pool's limits and a list of events.
  static let pool = FuzzTarget(
    name: "pool", summary: "no sequence of events breaks a rule of the pool's model, and nothing is left at its end"
  ) { bytes in
    let tape = tape(of: bytes)
    var model = PoolModel(seed: seed(of: bytes), tape: tape)
    do {
      for _ in 0..<min(bytes.count, 400) { try model.step() }
      tape.end()
      if model.seed % 3 == 0 { try model.shutDown() } else { try model.finish() }
    } catch {
      hold(false, "\(error)")
    }
  }

  /// Fuzzes the engine's event loop in a simulation. The input consists of a seed of four bytes, a schedule, and the actions of the
  /// network and the servers.
  static let exchange = FuzzTarget(
    name: "exchange",
    summary: "in a simulated run, every request ends once, with a response or a reason"
  ) { bytes in
    // The limit of iterations without effect grows with the input, because the input may let the poller report a socket as ready in
    // each iteration although it isn't.
    let simulation = Simulation(seed: seed(of: bytes), tape: tape(of: bytes), idleTurnsMax: 40 + bytes.count)
    simulation.run()
    if let violation = simulation.world.violations.first { hold(false, "\(violation)\n\(simulation.world.schedule)") }
  }

  private static func seed(of bytes: [UInt8]) -> UInt64 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) } }

  private static func tape(of bytes: [UInt8]) -> DecisionTape { DecisionTape(bytes.dropFirst(4)) }
}
