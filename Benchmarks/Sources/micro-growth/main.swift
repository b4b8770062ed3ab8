// Requests among many origins and connections that are open anyway. For Benchmarks/counts, which counts what one costs.

import LupineEngine
import Synchronization

let usage = "usage: micro-growth [--origins N] [--connections N] [--requests N] [--in-flight N] --port N"
var counts = ["--origins": 1, "--connections": 64, "--requests": 1000, "--in-flight": 64, "--port": 0]
var rest = CommandLine.arguments.dropFirst()
while let name = rest.popFirst() {
  guard counts[name] != nil, let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { fatalError(usage) }
  counts[name] = value
}
let (originCount, connectionCount, port) = (counts["--origins"]!, counts["--connections"]!, counts["--port"]!)

/// Every name is this machine's.
struct LoopbackResolver: HostResolver {
  func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
    [SocketAddress(numeric: "127.0.0.1", port: 0)!]
  }
}

var configuration = EngineConfiguration()
configuration.resolver.resolver = LoopbackResolver()
configuration.pool.connectionsPerOriginMax = connectionCount
configuration.pool.connectionsMax = .max
configuration.pool.idlePerOriginMax = connectionCount
configuration.pool.idleMax = connectionCount
configuration.pool.idleTimeout = .seconds(3600)
let engine = try Engine(configuration: configuration)

/// One request for each origin.
func requests(_ timeouts: Timeouts) throws -> [EngineRequest] {
  try (0..<originCount).map {
    EngineRequest(uri: try URI("http://origin\($0).test:\(port)/"), timeouts: timeouts)
  }
}

// All connections at once, so that nobody finds one that is free; then it's waited for those that nobody needs any more.
let openers = try requests(Timeouts(everyPhase: nil, total: nil))
await Relay.run(openers, count: connectionCount, inFlight: connectionCount, on: engine)
while true {
  let total = await engine.counters().total
  if total.idle == connectionCount { break }
  guard total.openingsFailed == 0 else { fatalError("\(total.openingsFailed) connections couldn't be opened") }
  // Seldom, since a look goes through all origins, and is counted too.
  try await Task.sleep(for: .milliseconds(500))
}
await Relay.run(try requests(Timeouts()), count: counts["--requests"]!, inFlight: counts["--in-flight"]!, on: engine)
