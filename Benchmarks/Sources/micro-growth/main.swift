// Requests with many open origins and connections, or on several loops. Benchmarks/counts measures the cost of one of
// these requests.

import LupineEngine

let options = Options()

/// A resolver that returns 127.0.0.1 for every name.
struct LoopbackResolver: HostResolver {
  func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
    SocketAddress(numeric: "127.0.0.1", port: 0).map { [$0] } ?? []
  }
}

var configuration = EngineConfiguration()
configuration.resolver.resolver = LoopbackResolver()
(configuration.loopCount, configuration.loopsPerOrigin) = (options.loops, options.loops)
configuration.pool.connectionsPerOriginMax = options.connections
configuration.pool.connectionsMax = .max
configuration.pool.idlePerOriginMax = options.connections
configuration.pool.idleMax = options.connections
configuration.pool.idleTimeout = .seconds(3600)
let engine = try Engine(configuration: configuration)

/// A marker for callgrind, which restarts its counts when this function is called (`--dump-before`).
@inline(never) @_optimize(none)
nonisolated func measuredPartBegins() {}

/// One request per origin. All requests have the same time limits, as in most programs, so a connection's deadline is set when the
/// connection opens, and isn't changed. The limits are long, because opening thousands of connections under valgrind takes minutes.
let requests = try (0..<options.origins).map {
  EngineRequest(
    uri: try URI("http://origin\($0).test:\(options.port)/"), timeouts: Timeouts(everyPhase: .seconds(600), total: nil))
}

// Opens all connections at once, so that no request finds an idle one. Then waits until all connections are idle.
await Relay.run(requests, count: options.connections, inFlight: options.connections, on: engine)
while true {
  let total = await engine.counters().total
  if total.idle == options.connections { break }
  guard total.openingsFailed == 0 else { fatalError("\(total.openingsFailed) connections couldn't be opened") }
  // Reads the counters at long intervals, because that iterates over all origins, and callgrind simulates it too.
  try await Task.sleep(for: .milliseconds(500))
}
measuredPartBegins()
await Relay.run(requests, count: options.requests, inFlight: options.inFlight, on: engine)
