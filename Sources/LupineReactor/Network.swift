// What an engine asks of the world: the time, sockets, and their readiness. The kernel answers, or a simulation.

/// A connected or connecting stream socket, the kernel's or a simulated one. One thread at a time uses it.
package protocol StreamSocket: AnyObject {
  /// What tells it apart from every other open one; the descriptor's number, to be registered with a poller.
  var number: CInt { get }
  /// The own address, or nil if the socket isn't bound.
  var localAddress: SocketAddress? { get }
  /// The peer's address, or nil if the socket isn't connected.
  var peerAddress: SocketAddress? { get }
  /// Throws why connecting failed, once the socket has become writable.
  func finishConnecting() throws(SystemError)
  /// Receives into `buffer` from `offset` on. Nil: nothing is there yet. 0: the peer has closed its side.
  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends from `offset` on; returns how many bytes were taken, nil if none fitted.
  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends `count` bytes of a file from `offset` on; returns how many were taken, nil if none fitted. A file that ends
  /// before `offset` is `SystemError.fileEnded`.
  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int?
}

extension StreamSocket {
  /// Receives into the whole buffer.
  package func receive(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try receive(into: &buffer, from: 0) }
  /// Sends from the first byte on.
  package func send(_ bytes: [UInt8]) throws(SystemError) -> Int? { try send(bytes, from: 0) }
}

/// Where sockets come from and who watches them. It belongs to one loop's thread.
package protocol Network: AnyObject {
  /// The time.
  var now: Instant { get }
  /// Starts to connect, without waiting; the socket becomes writable when that has ended. Throws an option that was
  /// asked for and can't be set, too.
  func connect(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> any StreamSocket
  /// Starts to watch a socket, which the poller then names by the token.
  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Changes what is waited for on a watched socket.
  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Stops watching a socket, whose errors aren't reported then either.
  func unwatch(_ number: CInt) throws(SystemError)
  /// Ends the loop after its present turn.
  func stop()
}
