// TestNetwork: a network whose state a test sets, in place of the kernel's.

import Synchronization

@testable import LupineReactor
@testable import LupineURLSession

/// A simulated network for tests of tasks and requests that wait for a network. The test sets its state.
final class TestNetwork: Sendable {
  private struct State {
    var network: NetworkState?
    var handlers: [UInt64: NetworkSource.Handler] = [:]
    var watchCount: UInt64 = 0
  }

  /// Stops watching the simulated network when this object is released.
  private final class Watch: Sendable {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  private let state: Mutex<State>
  /// Held while handlers are called. Otherwise a new observer could receive the state at the start of its watch after a later one.
  private let delivery = Mutex(())
  private let isReadable: Bool

  /// Creates a simulated network with this state. If `isReadable` is false, neither the state nor its changes can be observed.
  init(_ network: NetworkState?, isReadable: Bool = true) {
    state = Mutex(State(network: network))
    self.isReadable = isReadable
  }

  var source: NetworkSource {
    NetworkSource(
      current: { self.isReadable ? self.state.withLock { $0.network } : nil },
      watch: { handler in
        guard self.isReadable else { return nil }
        return self.delivery.withLock { _ -> Watch in
          let (number, network) = self.state.withLock { state in
            state.watchCount += 1
            state.handlers[state.watchCount] = handler
            return (state.watchCount, state.network)
          }
          handler(network)
          return Watch { self.state.withLock { $0.handlers[number] = nil } }
        }
      })
  }

  /// The number of observers that are watching the simulated network.
  var watcherCount: Int { state.withLock { $0.handlers.count } }

  func change(to network: NetworkState) {
    delivery.withLock { _ in
      let handlers = state.withLock { state in
        state.network = network
        return Array(state.handlers.values)
      }
      for handler in handlers { handler(network) }
    }
  }

  /// The state of a network without routes.
  static let offline = NetworkState()
  /// The state of a network with a route only to the local subnet, as before a router is found.
  static let local = network("eth0", routing: 24)
  /// The state of a network with a default route through the Ethernet interface eth0.
  static let online = network("eth0")
  /// The state of a network with a default route through the cellular modem wwan0.
  static let cellular = network("wwan0")

  /// Returns the state of a network with a route through each of the named interfaces. The routes' destination is a prefix of
  /// `prefixLength` bits; with 0, they are default routes.
  static func network(_ names: String..., routing prefixLength: Int = 0) -> NetworkState {
    var state = NetworkState()
    for (index, name) in names.enumerated() {
      let number = Int32(index + 1)
      state.add(.link(NetworkLink(index: number, name: name, flags: 0x41)))
      state.add(.address(NetworkAddress(link: number, ip: .ipv4(0x0A00_0001 + UInt32(index) << 8))))
      state.add(
        .route(
          NetworkRoute(
            destination: prefixLength == 0 ? .ipv4(0) : .ipv4(0x0A00_0000 + UInt32(index) << 8),
            prefixLength: prefixLength, priority: UInt32(index), outcome: .sent(links: [number], isDirect: false))))
    }
    return state
  }
}
