// What can be set for a connection's socket before it connects.

/// How a connection's socket is set up.
///
/// The TCP options don't concern Unix domain sockets, nor do the local address and the interface.
public struct SocketOptions: Sendable, Hashable {
  /// Probes on a connection on which nothing moves, so that a peer that has vanished is noticed, and that firewalls on
  /// the way don't forget the connection (RFC 9293 §3.8.4).
  ///
  /// The defaults are Go's (net.KeepAliveConfig): a dead peer is noticed after 150 s. Linux's own first probe comes
  /// after two hours.
  public struct KeepAlive: Sendable, Hashable {
    /// How long nothing has moved when the first probe is sent: 15 s; whole seconds, 1...32,767, others are clamped.
    public var idle: Duration
    /// The time between two probes: 15 s; whole seconds, 1...32,767, others are clamped.
    public var interval: Duration
    /// How many probes in succession go unanswered before the connection is cut: 9; 1...127, others are clamped.
    public var count: Int

    /// Creates the settings of the probes.
    public init(idle: Duration = .seconds(15), interval: Duration = .seconds(15), count: Int = 9) {
      self.idle = idle
      self.interval = interval
      self.count = count
    }
  }

  /// Whether small writes leave at once (TCP_NODELAY): true, as in Go and curl. Otherwise Nagle's algorithm holds a
  /// second write back until the first is acknowledged.
  public var noDelay = true

  /// Probes on idle connections (SO_KEEPALIVE); on by default, as in Go. Nil: none, as in libcurl.
  public var keepAlive: KeepAlive? = KeepAlive()

  /// How long sent bytes may stay unacknowledged before the connection is cut (TCP_USER_TIMEOUT, RFC 5482);
  /// milliseconds, at least 1. Nil, the default: the kernel's, about 15 minutes (net.ipv4.tcp_retries2).
  ///
  /// It also bounds how long probes go unanswered, in place of `KeepAlive.count` (tcp(7)).
  public var userTimeout: Duration?

  /// The address that connections come from; port 0 lets the kernel choose one for each. Nil, the default: the kernel
  /// chooses by the route.
  ///
  /// Targets of the other family then fail with EADDRNOTAVAIL, and so does an address that isn't this machine's.
  public var localAddress: SocketAddress?

  /// The network interface that connections leave through, such as "eth0" (SO_BINDTODEVICE); nil, the default: the
  /// route's. One that doesn't exist is ENODEV.
  public var interface: String?

  /// Bytes of the kernel's buffer for what is to be sent (SO_SNDBUF), which is doubled and bounded by
  /// net.core.wmem_max. Nil, the default: the kernel tunes it by the connection.
  public var sendBufferBytes: Int?

  /// Bytes of the kernel's buffer for what has been received (SO_RCVBUF), which is doubled and bounded by
  /// net.core.rmem_max. Nil, the default: the kernel tunes it by the connection.
  public var receiveBufferBytes: Int?

  /// Creates the default options.
  public init() {}
}
