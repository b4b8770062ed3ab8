// Socket+Listening: sockets that listen, and blocking sockets that they accept.

internal import CLupineLoopback
internal import LupineLibc
package import LupineReactor

extension Socket {
  /// Creates a socket that listens on an address. With port 0, the kernel chooses the port. This socket and the sockets that it
  /// accepts are blocking.
  package static func listen(on address: SocketAddress, backlog: Int = 1024) throws(SystemError) -> Socket {
    let result = try reserve(address)
    try result.listen(backlog: backlog)
    return result
  }

  /// Creates a blocking socket that has an address but doesn't listen yet. While it is open, the kernel chooses its port for no other
  /// socket, but another one can be created for the same port, and one of them can listen.
  package static func reserve(_ address: SocketAddress) throws(SystemError) -> Socket {
    let number = try SystemCall.run("socket") {
      socket(address.family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    let result = Socket(FileDescriptor(owning: number))
    result.set(SOL_SOCKET, SO_REUSEADDR, 1)
    _ = try SystemCall.run("bind") { address.withPointer { bind(number, $0, $1) } }
    return result
  }

  /// Begins to listen.
  package func listen(backlog: Int = 1024) throws(SystemError) {
    _ = try SystemCall.run("listen") { LupineLibc.listen(number, CInt(clamping: backlog)) }
  }

  /// Creates a blocking socket that listens on 127.0.0.1, on a port that the kernel chooses.
  package static func listenOnLoopback(backlog: Int) throws(SystemError) -> Socket {
    guard let address = SocketAddress(numeric: "127.0.0.1", port: 0) else { preconditionFailure("a numeric address") }
    return try listen(on: address, backlog: backlog)
  }

  /// Blocks until a client connects, and returns the socket of the connection.
  package func accept() throws(SystemError) -> Socket {
    let number = try SystemCall.run("accept") { lupine_accept4(self.number, CInt(SOCK_CLOEXEC.rawValue)) }
    let result = Socket(FileDescriptor(owning: number))
    result.set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    return result
  }

  /// Sends all bytes on a blocking socket, and returns when the kernel has accepted them.
  package func sendAll(_ bytes: [UInt8]) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      guard let count = try send(bytes, from: sent) else { preconditionFailure("an accepted socket blocks") }
      sent += count
    }
  }

  /// Receives bytes on a blocking socket. Returns an empty array when the peer has closed its sending side.
  package func receive() throws(SystemError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    guard let count = try receive(into: &buffer) else { preconditionFailure("an accepted socket blocks") }
    buffer.removeLast(buffer.count - count)
    return buffer
  }

  /// Closes both directions of the connection. Threads that are blocked in `accept` or `receive` on this socket return.
  package func shutdownBoth() {
    _ = shutdown(number, CInt(SHUT_RDWR))
  }

  /// Closes the sending side of the connection. The peer then reads the end of the data.
  package func shutdownSending() {
    _ = shutdown(number, CInt(SHUT_WR))
  }

  /// Makes closing the socket discard unsent data and send a reset (RST) instead of a FIN.
  package func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<LupineLibc.linger>.size))
  }
}
