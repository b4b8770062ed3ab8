// A stream socket, TCP or Unix: connect, send, receive. Non-blocking unless it was accepted for a blocking server.

internal import CLupineLinux
internal import Glibc

/// A stream socket; closed when the last reference to it goes.
package final class Socket: StreamSocket, Sendable {
  private let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }

  /// The descriptor's number, to be registered with a poller.
  package var number: CInt { descriptor.number }

  /// Starts to connect, without waiting; the socket becomes writable when that has ended.
  ///
  /// Throws an option that was asked for and can't be set, too.
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

  /// Throws why connecting failed, once the socket has become writable.
  package func finishConnecting() throws(SystemError) {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    _ = try SystemCall.run("getsockopt") { getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    if code != 0 { throw SystemError(call: "connect", code: code) }
  }

  /// Receives into `buffer` from `offset` on. Nil: nothing is there yet. 0: the peer has closed its side.
  package func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < buffer.count, "no room to receive into")
    return try SystemCall.transfer("recv") {
      // SAFETY: the room behind `offset` is what is passed as the length.
      buffer.withUnsafeMutableBytes { recv(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, 0) }
    }
  }

  /// Sends from `offset` on; returns how many bytes the kernel took, nil if none fitted.
  package func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    precondition(offset < bytes.count, "nothing to send")
    return try SystemCall.transfer("send") {
      // SAFETY: the bytes behind `offset` are what is passed as the length. MSG_NOSIGNAL: EPIPE in place of SIGPIPE.
      bytes.withUnsafeBytes {
        Glibc.send(number, $0.baseAddress.map { $0 + offset }, $0.count - offset, CInt(MSG_NOSIGNAL))
      }
    }
  }

  /// Sends `count` bytes of a file from `offset` on, without a copy of them in this process; returns how many the kernel
  /// took, nil if none fitted. A file that ends before `offset` is `SystemError.fileEnded`.
  ///
  /// EINVAL: the file lies where the kernel can't send from, such as in /proc, and has to be read instead.
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

  /// Ends the sending side; the peer reads an end of file.
  package func shutdownSending() {
    _ = shutdown(number, CInt(SHUT_WR))
  }

  /// Makes close send a reset in place of a FIN, and drop what wasn't sent.
  package func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  /// The own address, or nil if the socket isn't bound.
  package var localAddress: SocketAddress? { SocketAddress { getsockname(number, $0, $1) } }
  /// The peer's address, or nil if the socket isn't connected.
  package var peerAddress: SocketAddress? { SocketAddress { getpeername(number, $0, $1) } }
}

extension Socket {
  /// Listens on an address; port 0 lets the kernel choose. The socket blocks, and so do those that it accepts.
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

  /// Waits for a connection.
  package func accept() throws(SystemError) -> Socket {
    let number = try SystemCall.run("accept") { lupine_accept4(self.number, CInt(SOCK_CLOEXEC.rawValue)) }
    let result = Socket(FileDescriptor(owning: number))
    result.set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    return result
  }

  /// Ends both directions; whoever waits in `accept` or `receive` on this socket returns.
  package func shutdownBoth() {
    _ = shutdown(number, CInt(SHUT_RDWR))
  }
}
