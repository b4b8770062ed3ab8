// Network: the engine's interface to time and sockets. EventLoop implements it, as does a simulation in tests.

/// A stream socket that is connecting or connected. It is a socket of the kernel or a simulated one. Only one thread at a time may
/// use it.
package protocol StreamSocket: AnyObject {
  /// The descriptor's number, which is unique among open sockets and identifies the socket to a poller.
  var number: CInt { get }
  /// The socket's local address, or nil if it isn't bound.
  var localAddress: SocketAddress? { get }
  /// The peer's address, or nil if the socket isn't connected.
  var peerAddress: SocketAddress? { get }
  /// Throws the error of the attempt to connect if the attempt has failed. Call this after the socket has become writable.
  func finishConnecting() throws(SystemError)
  /// Receives bytes into `buffer`, starting at the index `offset`. Returns their number, nil if no data is available yet, or 0 if
  /// the peer has closed its sending side.
  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends the bytes from the index `offset` on. Returns the number of bytes accepted, or nil if the socket's buffer is full.
  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int?
  /// Sends `count` bytes of a file, starting at `offset`. Returns the number of bytes accepted, or nil if the socket's buffer is
  /// full. Throws `SystemError.fileEnded` if the file ends before `offset`.
  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int?
  /// Closes the sending direction after the bytes that were accepted before. The peer then reads the end of the data, and may still
  /// send.
  func endSending() throws(SystemError)
  /// Whether the socket may hold received bytes, or the end of the data, although the poller reports no event for it. False for a
  /// socket of the kernel.
  var mayHoldMore: Bool { get }
  /// Frees memory that an idle connection doesn't need.
  func releaseIdleMemory()
}

extension StreamSocket {
  package var mayHoldMore: Bool { false }
  package func releaseIdleMemory() {}
  /// Receives bytes into the entire buffer. Returns their number, nil if no data is available yet, or 0 if the peer has closed its
  /// sending side.
  package func receive(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try receive(into: &buffer, from: 0) }
  /// Sends bytes from the first on. Returns the number of bytes accepted, or nil if the socket's buffer is full.
  package func send(_ bytes: [UInt8]) throws(SystemError) -> Int? { try send(bytes, from: 0) }
}

/// Creates and watches sockets, and provides the current time. Each instance belongs to the thread of one event loop.
package protocol Network: AnyObject {
  /// The current time.
  var now: Instant { get }
  /// Starts to connect to an address without blocking, and returns the socket, which becomes writable when the attempt has ended.
  /// Throws a `SystemError` if connecting fails at once, or if a requested option can't be set.
  func connect(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> any StreamSocket
  /// Returns the link (network interface) through which the kernel would send packets of a socket with these options to `address`.
  /// Returns nil for a Unix socket. Throws a `SystemError` if there is no route, or if the kernel's routes can't be read.
  func link(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> NetworkLink?
  /// Starts to watch a socket, given by its descriptor's number, for the events in `interest`. The events carry `token`.
  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Changes the events for which a socket is watched, and their token.
  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError)
  /// Stops watching a socket for events, including errors.
  func unwatch(_ number: CInt) throws(SystemError)
  /// Ends the event loop after its current iteration.
  func stop()
}
