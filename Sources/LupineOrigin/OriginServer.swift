// OriginServer: a small HTTP/1.1 server on loopback for the demo and tests, in the client's process. Each connection has a
// blocking thread, which runs a handler. The handler may also send bytes that real servers don't send.

internal import LupineLoopback
internal import LupineReactor

/// An HTTP server that listens from `init` until `stop`. It calls its handler on a separate thread for each connection.
package final class OriginServer: Sendable {
  /// The port on which the server listens: the port passed to `init`, or the port that the kernel chose.
  package let port: UInt16
  /// The server's URL without a path or final slash, such as "http://127.0.0.1:40123" or "https://localhost:40123".
  package let url: String
  private let registry: ConnectionRegistry
  /// Keeps the port after `stop`, so that no other server gets it, to which a client of this one would connect.
  private let reservation: Socket

  /// Creates a server that listens on a numeric address. If `port` is 0, the kernel chooses a free port.
  ///
  /// With `tls`, the handler is only called after a successful handshake. When the handler returns or throws, the server closes the
  /// connection.
  ///
  /// - Throws: `OriginError.notAnAddress`, or `SystemError` if the server can't listen.
  package init(
    tls: ServerIdentity? = nil, address: String = "127.0.0.1", port: UInt16 = 0,
    handler: @escaping @Sendable (Peer) throws -> Void
  ) throws {
    guard let socketAddress = SocketAddress(numeric: address, port: port) else {
      throw OriginError.notAnAddress(address)
    }
    let listener = try Socket.reserve(socketAddress)
    guard let bound = listener.localAddress else { preconditionFailure("a socket that is bound has no address") }
    reservation = try Socket.reserve(bound)
    try listener.listen()
    self.port = bound.port
    url = tls == nil ? "http://\(bound)" : "https://localhost:\(bound.port)"
    registry = ConnectionRegistry(listener: listener)
    let acceptor = Acceptor(registry: registry, tls: tls, handler: handler)
    try registry.startThread(name: "origin-accept") { acceptor.run() }
  }

  /// Creates a server that responds to each request with the result of `reply`, and keeps connections alive. Throws the errors of
  /// `init`.
  ///
  /// The server responds to malformed requests with 400.
  package static func serving(
    tls: ServerIdentity? = nil, address: String = "127.0.0.1",
    _ reply: @escaping @Sendable (ReceivedRequest) throws -> Reply
  ) throws -> OriginServer {
    try OriginServer(tls: tls, address: address) { peer in try peer.serve(reply) }
  }

  deinit {
    // Doesn't wait for the threads, because one of them may have released the last reference to the server.
    registry.shutDown()
  }

  /// Closes the listener and all connections, and waits for the server's threads to end. Handlers must not call this method,
  /// because it would wait for their threads forever. Further calls have no effect.
  package func stop() {
    registry.shutDown()
    registry.awaitThreads()
  }

  /// The number of connections that the server has accepted, including those whose TLS handshake failed.
  package var connectionCount: Int { registry.connectionCount }
  /// The number of open connections whose handlers haven't returned yet.
  package var openConnectionCount: Int { registry.openConnectionCount }
  /// The number of request heads that the server has read on all connections.
  package var requestCount: Int { registry.requestCount }
}

private struct Acceptor: Sendable {
  let registry: ConnectionRegistry
  let tls: ServerIdentity?
  let handler: @Sendable (Peer) throws -> Void

  /// The delay after which the server accepts connections again if the process has run out of descriptors or threads: 10 ms.
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
      // Captures the index instead of the socket, because a socket in the thread's closure could outlive `stop`.
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
      // Errors of the handler aren't reported, because tests check what the client observes.
    }
    peer.close()
  }
}
