// What an engine is made with: limits of memory and connections, and how TLS peers are verified.

public import LupineReactor
public import LupineCoding
public import LupineTLS

/// The settings of an `Engine`; they don't change during its life.
public struct EngineConfiguration: Sendable {
  /// How much of each part of a response is accepted.
  public var limits = Limits()
  /// What a coded body may ask of the decoder: layers, expansion, bytes. A request's `bodyBytesMax` holds there, too.
  public var codings = CodingLimits()
  /// Versions, trust and verification of TLS.
  public var tls = TLSConfiguration()
  /// Whether requests go through a proxy; what the environment says by default, read once when the engine is made.
  public var proxy = ProxySettings.environment
  /// Who looks hosts up, and how long the answers hold.
  public var resolver = ResolverConfiguration()
  /// How sockets are set up: TCP's options, the own address or interface.
  public var socket = SocketOptions()
  /// The path of a Unix socket that every request is sent to, whatever its host, which still goes into the Host field;
  /// nil, the default, for TCP. No proxy is used then.
  public var socketPath: String?
  /// How many connections are kept and for how long, and how many requests may wait for one; of each loop.
  public var pool = PoolLimits()
  /// How much of a body that nobody wants is read, in at most a second, so that its connection can be used again; 64 KiB
  /// by default, far more than a page that says where to go. With more left, the connection is closed; with 0, if anything is.
  public var drainedBytesMax = 64 * 1024
  /// How many decoded bytes a response's body may be ahead of whoever reads it as a sequence; 256 KiB by default, at
  /// least 1. The kernel's socket buffers come on top.
  public var windowBytes = 256 * 1024
  /// Threads that do the work, at least 1; 1 by default.
  public var loopCount = 1
  /// How many of the loops serve one origin, 1...`loopCount`; 1 by default, so that limits per origin are exact. With
  /// more, each loop has its own connections, and limits per origin count for each.
  public var loopsPerOrigin = 1
  /// Hears of everything that happens, on the loops' threads, which wait for it meanwhile; nil by default, and free then.
  public var tracer: (@Sendable (TraceEvent) -> Void)?

  /// Creates the default settings.
  public init() {}
}
