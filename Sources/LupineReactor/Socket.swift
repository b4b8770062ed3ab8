// Socket: a TCP or Unix stream socket. It is non-blocking unless a blocking server accepted it.

internal import CLupineLinux
internal import Glibc

/// A stream socket, closed when the last reference to it is released.
package final class Socket: StreamSocket, Sendable {
  private let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// The descriptor's number, which identifies the socket to a poller.
  package var number: CInt { descriptor.number }

  /// Starts to connect without blocking. The socket becomes writable when the attempt has ended.
  ///
  /// Also throws if a requested option can't be set.
  package static func connect(
    to address: SocketAddress, options: SocketOptions = SocketOptions()
  ) throws(SystemError) -> Socket {
    let number = try SystemCall.run("socket") {
      socket(address.family, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    let result = Socket(FileDescriptor(owning: number))
    try result.apply(options, for: address)
    do {
      _ = try SystemCall.run("connect") { address.withPointer { Glibc.connect(number, $0, $1) } }
    } catch {
      guard error.code == EINPROGRESS else { throw error }
    }
    return result
  }

  /// Throws the error if connecting failed. Call it after the socket has become writable.
  package func finishConnecting() throws(SystemError) {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    _ = try SystemCall.run("getsockopt") { getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    if code != 0 { throw SystemError(call: "connect", code: code) }
  }

  /// Receives into `buffer` from `offset` on. Returns nil if no data is available, and 0 if the peer has closed its
  /// side.
  package func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < buffer.count, "no room to receive into")
    return try SystemCall.transfer("recv") {
      // SAFETY: the length passed is that of the buffer from `offset` on.
      buffer.withUnsafeMutableBytes { recv(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, 0) }
    }
  }

  /// Sends `bytes` from `offset` on. Returns the number of bytes accepted, or nil if the socket's buffer is full.
  package func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < bytes.count, "nothing to send")
    return try SystemCall.transfer("send") {
      // SAFETY: the length passed is that of the bytes from `offset` on. MSG_NOSIGNAL: EPIPE instead of SIGPIPE.
      bytes.withUnsafeBytes {
        Glibc.send(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, CInt(MSG_NOSIGNAL))
      }
    }
  }

  /// Sends `count` bytes of a file from `offset` on, without copying them into this process. Returns the number of
  /// bytes accepted, or nil if the socket's buffer is full. Throws `SystemError.fileEnded` if the file ends before
  /// `offset`.
  ///
  /// Fails with EINVAL if the kernel can't send from the file's location, such as /proc. The caller must then read the
  /// file instead.
  package func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int? {
    precondition(count > 0, "nothing to send")
    var position = off_t(clamping: offset)
    let sent = try SystemCall.transfer("sendfile") {
      // sendfile(2) has no MSG_NOSIGNAL.
      SystemCall.withoutBrokenPipeSignal(count: count) { sendfile(number, file.number, &position, count) }
    }
    if sent == 0 { throw .fileEnded(file.path) }
    return sent
  }

  /// Closes the sending side. The peer then reads the end of the data.
  package func shutdownSending() {
    _ = shutdown(number, CInt(SHUT_WR))
  }

  /// Makes close send a reset instead of a FIN and discard unsent data.
  package func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  /// The socket's local address, or nil if it isn't bound.
  package var localAddress: SocketAddress? { SocketAddress { getsockname(number, $0, $1) } }
  /// The peer's address, or nil if the socket isn't connected.
  package var peerAddress: SocketAddress? { SocketAddress { getpeername(number, $0, $1) } }
}

extension Socket {
  /// Listens on an address. With port 0, the kernel chooses the port. This socket and the sockets that it accepts are
  /// blocking.
  package static func listen(on address: SocketAddress, backlog: Int = 1024) throws(SystemError) -> Socket {
    let number = try SystemCall.run("socket") {
      socket(address.family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
    let result = Socket(FileDescriptor(owning: number))
    result.set(SOL_SOCKET, SO_REUSEADDR, 1)
    _ = try SystemCall.run("bind") { address.withPointer { bind(number, $0, $1) } }
    _ = try SystemCall.run("listen") { Glibc.listen(number, CInt(clamping: backlog)) }
    return result
  }

  /// Waits for a connection and returns its socket.
  package func accept() throws(SystemError) -> Socket {
    let number = try SystemCall.run("accept") { lupine_accept4(self.number, CInt(SOCK_CLOEXEC.rawValue)) }
    let result = Socket(FileDescriptor(owning: number))
    result.set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    return result
  }

  /// Closes both directions. Threads blocked in `accept` or `receive` on this socket return.
  package func shutdownBoth() {
    _ = shutdown(number, CInt(SHUT_RDWR))
  }
}
