// EngineConfiguration: the settings of an engine.

public import LupineReactor
public import LupineCoding
public import LupineTLS

/// The settings of an `Engine`, fixed when it is created.
public struct EngineConfiguration: Sendable {
  /// The parser's limits for the parts of a response, such as its head.
  public var limits = Limits()
  /// The limits of decoding a coded body: layers, expansion and bytes. A request's `bodyBytesMax` applies in addition.
  public var codings = CodingLimits()
  /// The TLS settings: protocol versions, trusted roots and verification.
  public var tls = TLSConfiguration()
  /// The proxy settings. By default, the environment specifies the proxies; it is read once when the engine is created.
  public var proxy = ProxySettings.environment
  /// The resolver of host names and the cache times of its answers.
  public var resolver = ResolverConfiguration()
  /// The addresses that may be connected to. All by default. The policy can't change while
  /// connections exist, so none of them bypasses it.
  public var addressPolicy = AddressPolicy.all
  /// The options of sockets: TCP options, and the local address or interface.
  public var socket = SocketOptions()
  /// The path of a Unix socket to which all requests are sent, regardless of their host, which still appears in the
  /// Host field. Proxies are then ignored. Nil, the default, for TCP.
  public var socketPath: String?
  /// The limits of each loop's connections, idle times and waiters.
  public var pool = PoolLimits()
  /// The maximum number of bytes of an unwanted body that are read, within a second, so that the connection can be
  /// reused. With more bytes left, the connection is closed. 64 KiB by default, far more than the body of a typical
  /// redirect; 0 to read none.
  public var drainedBytesMax = 64 * 1024
  /// The maximum number of decoded body bytes that wait for a reader of the body's sequence; 256 KiB by default, at
  /// least 1. The kernel's socket buffers come in addition.
  public var windowBytes = 256 * 1024
  /// The number of event loops, each with a thread. At least 1, 1 by default.
  public var loopCount = 1
  /// The number of loops that serve one origin, 1...`loopCount`; 1 by default, so that limits per origin are exact.
  /// With more loops, each has separate connections, and limits per origin apply to each.
  public var loopsPerOrigin = 1
  /// Called with each event of the engine, on the loops' threads, which it blocks. Nil by default, which costs nothing.
  public var tracer: (@Sendable (TraceEvent) -> Void)?

  /// Creates the default settings.
  public init() {}
}
