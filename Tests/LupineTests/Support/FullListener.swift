// A port whose queue of connections is full, so that the kernel answers no further one.

import LupineEngine
import LupineLoopback

/// A listener that never accepts; connecting to it takes until the client gives up.
final class FullListener: Sendable {
  let port: UInt16
  private let sockets: [Socket]

  init() throws {
    let listener = try Socket.listenOnLoopback(backlog: 0)
    guard let address = listener.localAddress else { preconditionFailure("a socket that listens has an address") }
    port = address.port
    // Linux queues one connection more than it is told. One would do; the others' first packets are dropped as the
    // client's will be.
    sockets = try [listener] + (0..<3).map { _ in try Socket.connect(to: address) }
  }
}
