// SwitchedResolver: a resolver that a test switches on.

import Synchronization

@testable import LupineReactor

/// A mock resolver that resolves every host name to 127.0.0.1, or fails while it is switched off.
final class SwitchedResolver: HostResolver {
  private let isUp = Mutex(false)
  private let lookups = Mutex(0)

  var lookupCount: Int { lookups.withLock { $0 } }

  func set(isUp: Bool) { self.isUp.withLock { $0 = isUp } }

  func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
    lookups.withLock { $0 += 1 }
    guard isUp.withLock({ $0 }) else { throw ResolveError(.temporary, "Temporary failure in name resolution") }
    return [SocketAddress(numeric: "127.0.0.1", port: 0)].compactMap(\.self)
  }
}
