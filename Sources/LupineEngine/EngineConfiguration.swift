// What an engine is made with: limits of memory and connections, and how TLS peers are verified.

public import LupineTLS

/// The settings of an `Engine`; they don't change during its life.
public struct EngineConfiguration: Sendable {
  /// How much of each part of a response is accepted.
  public var limits = Limits()
  /// Versions, trust and verification of TLS.
  public var tls = TLSConfiguration()
  /// Connections to one origin, busy, idle and being opened, at least 1; 64 by default. Browsers open 6, Go sets no
  /// limit, AsyncHTTPClient 8. Requests beyond it wait in order.
  public var connectionsPerOriginMax = 64
  /// Idle connections to one origin that are kept; 64 by default.
  public var idlePerOriginMax = 64
  /// How long an idle connection is kept; 60 s by default, below nginx's 75 s. Go keeps them for 90 s.
  public var idleTimeout = Duration.seconds(60)
  /// Threads that do the work, at least 1; 1 by default. An origin belongs to one of them.
  public var loopCount = 1

  /// Creates the default settings.
  public init() {}
}
