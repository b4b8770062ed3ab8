// Socket: a TCP or Unix stream socket that connects without blocking.

internal import LupineLibc

/// A stream socket, closed when the last reference to it is released.
package final class Socket: StreamSocket, Sendable {
  /// The lowest local port that the kernel can choose for a connection: 1024, unless net.ipv4.ip_unprivileged_port_start is
  /// changed.
  private static let chosenPortMin: UInt16 = 1024

  private let descriptor: FileDescriptor
  /// The port to which `connect` connects the socket. 0 for a Unix socket, or if the socket wasn't created by `connect`.
  private let targetPort: UInt16

  /// Takes ownership of the descriptor of a stream socket.
  package init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
    targetPort = 0
  }

  private init(_ descriptor: consuming FileDescriptor, connectingTo target: SocketAddress) {
    self.descriptor = descriptor
    targetPort = target.port
  }

  /// The descriptor's number, which identifies the socket to a poller.
  package var number: CInt { descriptor.number }

  /// Starts to connect to an address without blocking. Returns the socket, which becomes writable when the attempt has ended.
  ///
  /// Throws a `SystemError` if connecting fails at once, or if a requested option can't be set.
  package static func connect(
    to address: SocketAddress, options: SocketOptions = SocketOptions()
  ) throws(SystemError) -> Socket {
    let number = try SystemCall.run("socket") {
      socket(address.family, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    let result = Socket(FileDescriptor(owning: number), connectingTo: address)
    try result.apply(options, for: address)
    do {
      _ = try SystemCall.run("connect") { address.withPointer { LupineLibc.connect(number, $0, $1) } }
    } catch {
      guard error.code == EINPROGRESS else { throw error }
    }
    return result
  }

  /// Throws the error of the attempt to connect if the attempt has failed. Call this after the socket has become writable.
  ///
  /// A socket that is connected to itself counts as refused, because there is no server.
  package func finishConnecting() throws(SystemError) {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    _ = try SystemCall.run("getsockopt") { getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    if code != 0 { throw SystemError(call: "connect", code: code) }
    if isConnectedToItself { throw SystemError(call: "connect", code: ECONNREFUSED) }
  }

  /// Whether the socket is connected to itself. This happens if no server listens on a port of this machine, and the kernel chooses
  /// the same port as the local port: the socket's SYN then reaches the socket itself (RFC 9293 §3.5, simultaneous open). The
  /// client would receive its own request, and the server couldn't bind its port.
  private var isConnectedToItself: Bool {
    guard targetPort >= Self.chosenPortMin, let own = localAddress, own.port == targetPort else { return false }
    return own == peerAddress
  }

  /// Receives bytes into `buffer`, starting at the index `offset`. Returns their number, nil if no data is available yet, or 0 if
  /// the peer has closed its sending side.
  package func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < buffer.count, "no room to receive into")
    return try SystemCall.transfer("recv") {
      // SAFETY: the length passed is that of the buffer from `offset` on.
      buffer.withUnsafeMutableBytes { recv(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, 0) }
    }
  }

  /// Sends the bytes from the index `offset` on. Returns the number of bytes accepted, or nil if the socket's buffer is full.
  package func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < bytes.count, "nothing to send")
    return try SystemCall.transfer("send") {
      // SAFETY: the length passed is that of the bytes from `offset` on. MSG_NOSIGNAL: EPIPE instead of SIGPIPE.
      bytes.withUnsafeBytes {
        LupineLibc.send(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, CInt(MSG_NOSIGNAL))
      }
    }
  }

  /// Sends `count` bytes of a file, starting at `offset`, without copying them into this process. Returns the number of bytes
  /// accepted, or nil if the socket's buffer is full. Throws `SystemError.fileEnded` if the file ends before `offset`.
  ///
  /// Fails with EINVAL if the kernel can't send files from the file's location, such as /proc. The caller must then read the file
  /// and send its bytes instead.
  package func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int? {
    precondition(count > 0, "nothing to send")
    var position = off_t(clamping: offset)
    let sent = try SystemCall.transfer("sendfile") {
      // SIGPIPE is blocked instead, because sendfile(2) has no MSG_NOSIGNAL.
      SystemCall.withoutBrokenPipeSignal(count: count) { sendfile(number, file.number, &position, count) }
    }
    if sent == 0 { throw .fileEnded(file.path) }
    return sent
  }

  /// Closes the sending direction with a FIN after the bytes that the kernel has accepted.
  package func endSending() throws(SystemError) {
    _ = try SystemCall.run("shutdown") { shutdown(number, CInt(SHUT_WR)) }
  }

  /// The socket's local address, or nil if it isn't bound.
  package var localAddress: SocketAddress? { SocketAddress { getsockname(number, $0, $1) } }
  /// The peer's address, or nil if the socket isn't connected.
  package var peerAddress: SocketAddress? { SocketAddress { getpeername(number, $0, $1) } }
}
