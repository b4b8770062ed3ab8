// A small HTTP/1.1 server on loopback, in the same process: what the demo and the tests talk to. A blocking thread for
// each connection runs a script, which may send what no real server does.

internal import LupineReactor

/// A server that listens from `init` until `stop`, and calls its handler on a thread for each connection.
package final class OriginServer: Sendable {
  /// The port, which the kernel chose unless one was given.
  package let port: UInt16
  /// Scheme, host and port without a slash at the end, such as "http://127.0.0.1:40123" or "https://localhost:40123".
  package let url: String
  private let registry: ConnectionRegistry

  /// Starts to listen on a numeric address, on a port that is free unless one is given.
  ///
  /// With `tls`, the handler is called after the handshake, and not if that fails. A connection whose handler returns
  /// or throws is closed. Throws `OriginError.notAnAddress`, or `SystemError` if it can't listen.
  package init(
    tls: ServerIdentity? = nil, address: String = "127.0.0.1", port: UInt16 = 0,
    handler: @escaping @Sendable (Peer) throws -> Void
  ) throws {
    guard let socketAddress = SocketAddress(numeric: address, port: port) else {
      throw OriginError.notAnAddress(address)
    }
    let listener = try Socket.listen(on: socketAddress)
    guard let bound = listener.localAddress else { preconditionFailure("a socket that listens has an address") }
    self.port = bound.port
    url = tls == nil ? "http://\(bound)" : "https://localhost:\(bound.port)"
    registry = ConnectionRegistry(listener: listener)
    let acceptor = Acceptor(registry: registry, tls: tls, handler: handler)
    try registry.startThread(name: "origin-accept") { acceptor.run() }
  }

  /// Starts a server that answers every request with what `reply` makes of it, and keeps connections alive.
  ///
  /// A request that isn't HTTP is answered with 400. Throws as `init` does.
  package static func serving(
    tls: ServerIdentity? = nil, address: String = "127.0.0.1",
    _ reply: @escaping @Sendable (ReceivedRequest) throws -> Reply
  ) throws -> OriginServer {
    try OriginServer(tls: tls, address: address) { peer in try peer.serve(reply) }
  }

  deinit {
    // Without waiting, since the last reference may go on one of the server's own threads.
    registry.shutDown()
  }

  /// Closes the listener and all connections, and waits until the threads have ended. Not for handlers, which would
  /// wait for themselves. Doing it again does nothing.
  package func stop() {
    registry.shutDown()
    registry.awaitThreads()
  }

  /// Connections accepted so far, those included whose handshake failed.
  package var connectionCount: Int { registry.connectionCount }
  /// Connections whose handler has neither closed them nor ended.
  package var openConnectionCount: Int { registry.openConnectionCount }
  /// Request heads read so far, on all connections.
  package var requestCount: Int { registry.requestCount }
}

private struct Acceptor: Sendable {
  let registry: ConnectionRegistry
  let tls: ServerIdentity?
  let handler: @Sendable (Peer) throws -> Void

  /// Before the next try, if the process has no descriptor or thread left for a connection.
  private static let retryPause = Duration.milliseconds(10)

  func run() {
    guard let listener = registry.listener else { return }
    while true {
      do {
        try admit(listener.accept())
      } catch {
        guard registry.pause(for: Self.retryPause) else { return }
      }
    }
  }

  private func admit(_ socket: Socket) throws {
    guard let index = registry.admit(socket) else { return }
    do {
      // Captures the index, not the socket: what the thread's closure holds would outlive `stop`.
      try registry.startThread(name: "origin-\(index)") { serve(index) }
    } catch {
      registry.remove(index)
      throw error
    }
  }

  private func serve(_ index: Int) {
    defer { registry.remove(index) }
    guard let peer = Peer(index: index, registry: registry) else { return }
    do {
      if let tls { try peer.startTLS(tls) }
      try handler(peer)
    } catch {
      // A client that goes away or sends nonsense is nothing to report: what it sees is what a test looks at.
    }
    peer.close()
  }
}
