// Socket+Options: sets a socket's options. Failures are ignored for options that only affect speed, and thrown for all others.

internal import LupineLibc

extension Socket {
  /// The maximum length of an interface's name in bytes, without the NUL (IFNAMSIZ is 16). The kernel would truncate a
  /// longer name.
  private static let interfaceBytesMax = 15

  /// Sets the options for a connection to `target`. Call this before connecting.
  func apply(_ options: SocketOptions, for target: SocketAddress) throws(SystemError) {
    if let count = options.sendBufferBytes { set(SOL_SOCKET, SO_SNDBUF, CInt(clamping: count)) }
    if let count = options.receiveBufferBytes { set(SOL_SOCKET, SO_RCVBUF, CInt(clamping: count)) }
    guard target.family != AF_UNIX else { return }
    if options.noDelay { set(CInt(IPPROTO_TCP), TCP_NODELAY, 1) }
    if let keepAlive = options.keepAlive { apply(keepAlive) }
    if let trafficClass = options.trafficClass {
      if target.isIPv6 {
        set(CInt(IPPROTO_IPV6), IPV6_TCLASS, CInt(trafficClass))
      } else {
        set(CInt(IPPROTO_IP), IP_TOS, CInt(trafficClass))
      }
    }
    if let timeout = options.userTimeout {
      var milliseconds = CUnsignedInt(clamping: timeout.rounded(up: 1_000_000, 1...UInt64(CInt.max)))
      try demand("setsockopt(TCP_USER_TIMEOUT)", CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, 4)
    }
    // The interface is set before the local address, because binding a link-local address requires it.
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
    // The kernel interprets an empty name as no interface, and reads only up to a NUL.
    guard (1...Self.interfaceBytesMax).contains(bytes.count), !bytes.contains(0) else {
      throw SystemError(call: call, code: ENODEV)
    }
    try demand(call, SOL_SOCKET, SO_BINDTODEVICE, &bytes, bytes.count)
  }

  private func bind(to local: SocketAddress, for target: SocketAddress) throws(SystemError) {
    guard local.family == target.family else {
      throw SystemError(call: "bind to \(local.host) for \(target)", code: EADDRNOTAVAIL)
    }
    // Without this option, the kernel would choose a port now and reserve it for this connection. Only about 28,000 ports are
    // available.
    if local.port == 0 { set(CInt(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1) }
    guard local.withPointer({ LupineLibc.bind(number, $0, $1) }) == 0 else {
      throw SystemError(call: "bind to \(local.host)", code: errno)
    }
  }

  /// Sets an option that only affects speed. Ignores a failure to set it.
  package func set(_ level: CInt, _ option: CInt, _ value: CInt) {
    var value = value
    setsockopt(number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  private func demand(
    _ call: String, _ level: CInt, _ option: CInt, _ value: UnsafeRawPointer, _ byteCount: Int
  ) throws(SystemError) {
    // SAFETY: the callers pass the size of the object that `value` points to, and the kernel only reads it.
    guard setsockopt(number, level, option, value, socklen_t(byteCount)) == 0 else {
      throw SystemError(call: call, code: errno)
    }
  }
}

extension Duration {
  /// Converts the duration to units of `unit` nanoseconds, rounded up and limited to `range`.
  fileprivate func rounded(up unit: UInt64, _ range: ClosedRange<UInt64>) -> UInt64 {
    let (whole, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: unit)
    return min(max(rest > 0 ? whole + 1 : whole, range.lowerBound), range.upperBound)
  }
}
