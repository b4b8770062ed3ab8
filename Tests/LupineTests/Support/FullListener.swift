// `FullListener`: a port whose accept queue is full, so that the kernel doesn't answer further connections.

import LupineEngine
import LupineLoopback

/// A listening TCP socket whose accept queue is full. A client that connects to it gets no answer until its time limit.
final class FullListener: Sendable {
  let port: UInt16
  private let sockets: [Socket]

  init() throws {
    let listener = try Socket.listenOnLoopback(backlog: 0)
    guard let address = listener.localAddress else { preconditionFailure("a socket that listens has an address") }
    port = address.port
    // Linux queues one more connection than the backlog, so the first connection fills the queue. The kernel drops the packets of
    // the others, as it will drop the client's.
    sockets = try [listener] + (0..<3).map { _ in try Socket.connect(to: address) }
  }
}
