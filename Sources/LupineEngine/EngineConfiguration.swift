// EngineConfiguration: the settings of an engine.

public import LupineReactor
public import LupineCoding
public import LupineTLS

/// The settings of an `Engine`, fixed when it is created.
public struct EngineConfiguration: Sendable {
  /// The parser's limits for the parts of a response, such as its head.
  public var limits = Limits()
  /// The limits for decoding a coded body: layers, expansion and bytes. A request's `bodyBytesMax` applies in addition.
  public var codings = CodingLimits()
  /// The TLS settings: protocol versions, trusted roots and verification.
  public var tls = TLSConfiguration()
  /// The proxy settings. By default, the environment specifies the proxies, and is read once when the engine is created.
  public var proxy = ProxySettings.environment
  /// The resolver of host names, and the times for which its answers are cached.
  public var resolver = ResolverConfiguration()
  /// The addresses to which the engine may connect. All by default. The policy can't change while
  /// connections exist, so that no connection bypasses it.
  public var addressPolicy = AddressPolicy.all
  /// The options of sockets: TCP options, and the local address or interface.
  public var socket = SocketOptions()
  /// The path of a Unix socket to which all requests are sent, or nil, the default, for TCP. Proxies are ignored. The Host field
  /// still contains the host of the request.
  public var socketPath: String?
  /// The limits of each loop's connections, idle times and waiters.
  public var pool = PoolLimits()
  /// The maximum number of bytes of an unwanted body to read, within a second, so that the connection can
  /// be reused. If more bytes remain, the connection is closed. 64 KiB by default, far more than the body
  /// of a typical redirect. With 0, nothing is read.
  public var drainedBytesMax = 64 * 1024
  /// The maximum number of decoded body bytes buffered for the reader of the body's sequence. 256 KiB by default, and at least 1.
  /// The kernel's socket buffers aren't included.
  public var windowBytes = 256 * 1024
  /// The number of event loops, each with a thread. 1 by default, and at least 1.
  public var loopCount = 1
  /// The number of loops that serve one origin, in 1...`loopCount`. 1 by default, so that limits per origin are exact. With more
  /// loops, each loop has separate connections, and limits per origin apply to each loop.
  public var loopsPerOrigin = 1
  /// A closure that is called with each event of the engine, on the loops' threads, which
  /// it blocks. Nil by default, which costs nothing.
  public var tracer: (@Sendable (TraceEvent) -> Void)?

  /// Creates the default settings.
  public init() {}
}
