// Setting a socket's options: what only costs speed is tried, what was asked for has to be.

internal import Glibc

extension Socket {
  /// Bytes of an interface's name, without its NUL: IFNAMSIZ is 16. The kernel cuts a longer one off.
  private static let interfaceBytesMax = 15

  /// Sets the options for a connection to `target`; call it before connecting.
  func apply(_ options: SocketOptions, for target: SocketAddress) throws(SystemError) {
    if let count = options.sendBufferBytes { set(SOL_SOCKET, SO_SNDBUF, CInt(clamping: count)) }
    if let count = options.receiveBufferBytes { set(SOL_SOCKET, SO_RCVBUF, CInt(clamping: count)) }
    guard target.family != AF_UNIX else { return }
    if options.noDelay { set(CInt(IPPROTO_TCP), TCP_NODELAY, 1) }
    if let keepAlive = options.keepAlive { apply(keepAlive) }
    if let timeout = options.userTimeout {
      var milliseconds = CUnsignedInt(clamping: timeout.rounded(up: 1_000_000, 1...UInt64(CInt.max)))
      try demand("setsockopt(TCP_USER_TIMEOUT)", CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, 4)
    }
    // Before the local address, since a link-local one needs to know its interface.
    if let interface = options.interface { try bind(toInterface: interface) }
    if let local = options.localAddress { try bind(to: local, for: target) }
  }

  private func apply(_ keepAlive: SocketOptions.KeepAlive) {
    let level = CInt(IPPROTO_TCP)
    let seconds: ClosedRange<UInt64> = 1...32_767
    set(level, TCP_KEEPIDLE, CInt(clamping: keepAlive.idle.rounded(up: 1_000_000_000, seconds)))
    set(level, TCP_KEEPINTVL, CInt(clamping: keepAlive.interval.rounded(up: 1_000_000_000, seconds)))
    set(level, TCP_KEEPCNT, CInt(min(max(keepAlive.count, 1), 127)))
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
  }

  private func bind(toInterface name: String) throws(SystemError) {
    let call = "setsockopt(SO_BINDTODEVICE, \(name))"
    var bytes = Array(name.utf8)
    // The kernel takes an empty name for none, and reads up to a NUL.
    guard (1...Self.interfaceBytesMax).contains(bytes.count), !bytes.contains(0) else {
      throw SystemError(call: call, code: ENODEV)
    }
    try demand(call, SOL_SOCKET, SO_BINDTODEVICE, &bytes, bytes.count)
  }

  private func bind(to local: SocketAddress, for target: SocketAddress) throws(SystemError) {
    guard local.family == target.family else {
      throw SystemError(call: "bind to \(local.host) for \(target)", code: EADDRNOTAVAIL)
    }
    // Otherwise the kernel would choose a port now, which no other connection from this address could share, and there
    // are only 28,000.
    if local.port == 0 { set(CInt(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1) }
    guard local.withPointer({ Glibc.bind(number, $0, $1) }) == 0 else {
      throw SystemError(call: "bind to \(local.host)", code: errno)
    }
  }

  /// Sets an option whose lack costs speed, not correctness, so that its failure is no error.
  func set(_ level: CInt, _ option: CInt, _ value: CInt) {
    var value = value
    setsockopt(number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  private func demand(
    _ call: String, _ level: CInt, _ option: CInt, _ value: UnsafeRawPointer, _ byteCount: Int
  ) throws(SystemError) {
    // SAFETY: the callers pass the size of what `value` points to, and the kernel only reads it.
    guard setsockopt(number, level, option, value, socklen_t(byteCount)) == 0 else {
      throw SystemError(call: call, code: errno)
    }
  }
}

extension Duration {
  /// How many units of that many nanoseconds it is, rounded up and clamped.
  fileprivate func rounded(up unit: UInt64, _ range: ClosedRange<UInt64>) -> UInt64 {
    let (whole, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: unit)
    return min(max(rest > 0 ? whole + 1 : whole, range.lowerBound), range.upperBound)
  }
}
