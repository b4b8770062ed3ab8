// Network: the engine's interface to time and sockets. EventLoop implements it, as does a simulation in tests.

/// A connecting or connected stream socket, of the kernel or simulated. Only one thread at a time may use it.
package protocol StreamSocket: AnyObject {
  /// The descriptor's number, which is unique among open sockets and identifies the socket to a poller.
  var number: CInt { get }
  /// The socket's local address, or nil if it isn't bound.
  var localAddress: SocketAddress? { get }
  /// The peer's address, or nil if the socket isn't connected.
  var peerAddress: SocketAddress? { get }
  /// Throws the error if connecting failed. Call this after the socket has become writable.
  func finishConnecting() throws(SystemError)
  /// Receives into `buffer` from `offset` on. Returns nil if no data is available, and 0 if the peer has closed its
  /// side.
  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends `bytes` from `offset` on. Returns the number of bytes accepted, or nil if the socket's buffer is full.
  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends `count` bytes of a file from `offset` on. Returns the number of bytes accepted, or nil if the socket's
  /// buffer is full. Throws `SystemError.fileEnded` if the file ends before `offset`.
  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int?
  /// Whether the socket holds received bytes, or the end of the data, that no event of the poller announces. False for a socket
  /// of the kernel.
  var mayHoldMore: Bool { get }
  /// Frees memory that an idle connection doesn't need.
  func releaseIdleMemory()
}

extension StreamSocket {
  package var mayHoldMore: Bool { false }
  package func releaseIdleMemory() {}
  /// Receives into the entire buffer.
  package func receive(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try receive(into: &buffer, from: 0) }
  /// Sends all bytes, from the first on.
  package func send(_ bytes: [UInt8]) throws(SystemError) -> Int? { try send(bytes, from: 0) }
}

/// Creates and watches sockets, and tells the time. Each instance belongs to one loop's thread.
package protocol Network: AnyObject {
  /// The current time.
  var now: Instant { get }
  /// Starts to connect without blocking. The socket becomes writable when the attempt has ended. Throws an error if connecting
  /// fails at once, or if a requested option can't be set.
  func connect(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> any StreamSocket
  /// Returns the link by which a socket with these options would send to an address, or nil for a Unix socket. Throws an error
  /// if there is no route, or if the kernel's routes can't be read.
  func link(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> NetworkLink?
  /// Starts to watch a socket. Its events carry the token.
  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Changes the events to watch for on a watched socket.
  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Stops watching a socket for events, including errors.
  func unwatch(_ number: CInt) throws(SystemError)
  /// Ends the loop after the current iteration.
  func stop()
}
