// WebSocketSimulationTests: random runs of a channel with a server that breaks every rule.

import LupineTestSupport
import Testing

@Suite("WebSocket in simulations")
struct WebSocketSimulationTests {
  /// The number of runs for each ending of a server.
  private static let runCount = 40

  @Test(
    "each call is completed once, each message before the end is received, and the end is the rule that the server broke",
    arguments: SocketSimulation.endings.indices)
  func runs(_ index: Int) {
    for number in 0..<repetitions(of: Self.runCount) {
      let seed = UInt64(index + number * SocketSimulation.endings.count)
      let simulation = SocketSimulation(seed: seed)
      simulation.run()
      #expect(simulation.violations.isEmpty, "seed \(seed), a server that \(simulation.ending.name)")
    }
  }
}
