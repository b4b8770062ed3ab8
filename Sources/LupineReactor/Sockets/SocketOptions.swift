// SocketOptions: the options of a connection's socket, set before it connects.

/// The options of a connection's socket.
///
/// The TCP options, the local address and the interface don't apply to Unix domain sockets.
public struct SocketOptions: Sendable, Hashable {
  /// Keep-alive probes on idle connections (RFC 9293 §3.8.4). They detect a peer that has disappeared, and prevent
  /// firewalls on the path from dropping the connection's state.
  ///
  /// The defaults are those of Go (net.KeepAliveConfig) and detect a dead peer after 150 s. Linux by default sends its
  /// first probe after two hours.
  public struct KeepAlive: Sendable, Hashable {
    /// The time for which a connection must be idle before the first probe. 15 s by default. Rounded up to whole seconds, limited
    /// to 1...32,767.
    public var idle: Duration
    /// The time between two probes. 15 s by default. Rounded up to whole seconds, limited to 1...32,767.
    public var interval: Duration
    /// The number of consecutive unanswered probes after which the kernel closes the connection. 9 by default, limited
    /// to 1...127.
    public var count: Int

    /// Creates settings for keep-alive probes.
    public init(idle: Duration = .seconds(15), interval: Duration = .seconds(15), count: Int = 9) {
      self.idle = idle
      self.interval = interval
      self.count = count
    }
  }

  /// Whether small writes are sent immediately (TCP_NODELAY). True by default, as in Go and curl. If false, Nagle's
  /// algorithm holds back a small write until the previous one is acknowledged.
  public var noDelay = true

  /// The keep-alive probes on idle connections (SO_KEEPALIVE). Enabled by default, as in Go. If nil, the kernel sends no probes,
  /// which is libcurl's default.
  public var keepAlive: KeepAlive? = KeepAlive()

  /// The time for which sent data may remain unacknowledged before the kernel closes the connection (TCP_USER_TIMEOUT, RFC
  /// 5482). Rounded up to whole milliseconds, at least 1. If nil (the default), the kernel's time of about 15 minutes applies
  /// (net.ipv4.tcp_retries2).
  ///
  /// This time also replaces `KeepAlive.count` as the limit on unanswered probes (tcp(7)).
  public var userTimeout: Duration?

  /// The local address from which connections are made. If the port is 0, the kernel chooses a port for each connection. If the
  /// address is nil (the default), the kernel chooses the address by the route.
  ///
  /// Connections fail with EADDRNOTAVAIL if the target is of the other family or the address doesn't belong to this machine.
  public var localAddress: SocketAddress?

  /// The network interface through which connections are made, such as "eth0" (SO_BINDTODEVICE). If nil (the default), the route
  /// determines the interface. Connections fail with ENODEV if the interface doesn't exist.
  public var interface: String?

  /// The traffic class of the connection's packets: the DSCP and ECN bits of the IP header (IP_TOS, IPV6_TCLASS; RFC 2474). If
  /// nil (the default), the kernel sends 0. TCP sets the two ECN bits itself. A failure to set the class is ignored.
  public var trafficClass: UInt8?

  /// The size of the kernel's send buffer in bytes (SO_SNDBUF). The kernel doubles the size, and limits it by
  /// net.core.wmem_max. If nil (the default), the kernel tunes the size for each connection.
  public var sendBufferBytes: Int?

  /// The size of the kernel's receive buffer in bytes (SO_RCVBUF). The kernel doubles the size, and limits it by
  /// net.core.rmem_max. If nil (the default), the kernel tunes the size for each connection.
  public var receiveBufferBytes: Int?

  /// Creates options with the default values.
  public init() {}
}
