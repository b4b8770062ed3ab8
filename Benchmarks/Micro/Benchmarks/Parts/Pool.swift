// Benchmarks of the connection pool's decisions, with one origin and with many.

import Benchmark
@testable import LupineEngine
import LupineReactor
import LupineWire

func pool() {
  for count in [1, 10_000] {
    let keys = (0..<count).map { PoolKey(origin: Origin(scheme: .http, host: "host-\($0)", port: 80), tls: nil) }
    Benchmark("take and give back a connection, origins: \(count)") { benchmark in
      let operations = benchmark.scaledIterations
      benchmark.measure(idlePool(keys)) { pool in
        for operation in operations {
          let id = pool.take(keys[operation % count])
          blackHole(pool.release(id, closing: nil, now: start))
        }
      }
    }
    Benchmark("wait for a connection and get it, origins: \(count)") { benchmark in
      let operations = benchmark.scaledIterations
      var pool = idlePool(keys)
      let id = pool.take(keys[0])
      benchmark.measure(consume pool) { pool in
        for _ in operations {
          guard case .wait = pool.acquire(keys[0], for: 2, now: start),
            case .use = pool.release(id, closing: nil, now: start)
          else { fatalError("the connection isn't handed on") }
        }
      }
    }
  }
}

private let start = Instant(nanoseconds: 0)

/// Returns a connection pool with one idle connection per origin. The pool's limits permit no further connections.
private func idlePool(_ keys: [PoolKey]) -> PoolState {
  var limits = PoolLimits()
  limits.connectionsPerOriginMax = 1
  limits.connectionsMax = keys.count
  limits.idleMax = keys.count
  limits.originsRememberedMax = keys.count
  var pool = PoolState(limits)
  for key in keys {
    guard case .wait(_, let actions) = pool.acquire(key, for: 0, now: start),
      case .connect(let id, _)? = actions.first, case .use = pool.opened(id, now: start)
    else { fatalError("the pool opens no connection") }
    _ = pool.release(id, closing: nil, now: start)
  }
  return pool
}

extension PoolState {
  fileprivate mutating func take(_ key: PoolKey) -> ConnectionID {
    guard case .use(let id) = acquire(key, for: 1, now: start) else { fatalError("the pool has no idle connection") }
    return id
  }
}
