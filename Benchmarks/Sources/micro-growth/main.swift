// Requests among many origins and connections that are open anyway, or on several loops. For Benchmarks/counts, which counts
// what one costs.

import LupineEngine

let options = Options()

/// Every name is this machine's.
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

/// Where callgrind begins to count anew (`--dump-before`).
@inline(never) @_optimize(none)
nonisolated func measuredPartBegins() {}

/// One request for each origin. All have the same time limits, as a program's requests have: a connection's deadline is
/// set when it is opened, and not again. Under valgrind, thousands of connections take minutes.
let requests = try (0..<options.origins).map {
  EngineRequest(
    uri: try URI("http://origin\($0).test:\(options.port)/"), timeouts: Timeouts(everyPhase: .seconds(600), total: nil))
}

// All connections at once, so that nobody finds one that is free; then it's waited for those that nobody needs any more.
await Relay.run(requests, count: options.connections, inFlight: options.connections, on: engine)
while true {
  let total = await engine.counters().total
  if total.idle == options.connections { break }
  guard total.openingsFailed == 0 else { fatalError("\(total.openingsFailed) connections couldn't be opened") }
  // Seldom, since a look goes through all origins, and is counted too.
  try await Task.sleep(for: .milliseconds(500))
}
measuredPartBegins()
await Relay.run(requests, count: options.requests, inFlight: options.inFlight, on: engine)
