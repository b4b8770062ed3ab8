// EngineConfiguration: the settings of an engine.

public import LupineReactor
public import LupineCoding
public import LupineTLS

/// The settings of an `Engine`. They can't change after the engine is created.
public struct EngineConfiguration: Sendable {
  /// The parser's limits for the parts of a response, such as its head.
  public var limits = Limits()
  /// The limits for decoding a response body: the number of content codings, the expansion ratio and the number of decoded bytes. A
  /// request's `bodyBytesMax` applies in addition.
  public var codings = CodingLimits()
  /// The TLS settings: protocol versions, trusted roots and verification.
  public var tls = TLSConfiguration()
  /// The proxy settings. By default, environment variables specify the proxies. They are read once, when the engine is created.
  public var proxy = ProxySettings.environment
  /// The checks that the certificate of an `https` proxy must pass, whatever `tls` says about the certificates of origins. `.full`
  /// by default. With `.none`, an attacker on the network can read the proxy's credentials.
  public var proxyVerification = TLSConfiguration.Verification.full
  /// The settings for resolving host names, such as how long addresses are cached.
  public var resolver = ResolverConfiguration()
  /// The addresses to which the engine may connect. All by default. The policy is fixed for the engine's lifetime, so that no
  /// open connection can violate it.
  public var addressPolicy = AddressPolicy.all
  /// The options of the sockets that the engine opens: TCP options, and the local address or interface.
  public var socket = SocketOptions()
  /// The path of a Unix socket to which all requests are sent, without proxies. If nil (the default), TCP is used. The Host
  /// field contains the host of the request in either case.
  public var socketPath: String?
  /// The limits on the connections, the idle times and the waiting exchanges of each event loop.
  public var pool = PoolLimits()
  /// The maximum number of bytes of an unwanted response body that the engine reads, within a second, so that it can reuse the
  /// connection. If more bytes remain, the engine closes the connection. 64 KiB by default, far more than the body of a typical
  /// redirect. If 0, the engine doesn't read the rest of the body.
  public var drainedBytesMax = 64 * 1024
  /// The receive window: the maximum number of decoded body bytes that wait in memory to be read from a `ResponseBody`, or for the
  /// delegate of a session's task. 1 MiB by default, and at least 1 byte. The kernel's socket buffers aren't included.
  public var windowBytes = 1024 * 1024
  /// The number of event loops, each with a thread. 1 by default, and at least 1.
  public var loopCount = 1
  /// The number of event loops that serve one origin, in 1...`loopCount`. 1 by default, so that limits per origin are exact. With
  /// more loops, each loop has separate connections, and limits per origin apply to each loop.
  public var loopsPerOrigin = 1
  /// The maximum time for which a loop polls its sockets before it sleeps. If zero (the default), the loop sleeps at once.
  ///
  /// Falling asleep and waking up take longer than many replies of a server nearby, so polling shortens the response times of
  /// programs with few requests in flight. 50 µs is a useful value. The loop's thread is busy while it polls, so each loop
  /// needs a dedicated core. A loop polls only for this time after the latest reply or request, and only while it has at most
  /// 64 idle connections.
  public var busyPoll = Duration.zero
  /// A closure that the engine calls with each of its events, for logs and traces. It runs on the loops' threads and blocks them,
  /// so it must return quickly. Nil by default, at no cost.
  public var tracer: (@Sendable (TraceEvent) -> Void)?

  /// The object that observes the engine's requests and connections, which LupineObservability sets. Nil by default, at no cost.
  package var observer: (any EngineObserver)?

  /// Whether the caller can choose a client certificate if the server requests one and the exchange's settings have none. If true,
  /// such an exchange fails before its request is sent, with `EngineError.requestedAuthorities`. If false (the default), the
  /// request is sent without a certificate.
  package var reportsIdentityRequests = false

  /// Creates a configuration with the default values.
  public init() {}
}

extension EngineConfiguration {
  /// The TLS settings for connections to a proxy: `tls` without the client certificate and the server name, which are meant for
  /// origins, and with `proxyVerification`. A proxy receives no certificate, even if it requests one.
  var proxyTLS: TLSConfiguration {
    var result = tls
    (result.identity, result.serverName) = (nil, nil)
    result.verification = proxyVerification
    if proxyVerification == .none {
      // These settings are refused without verification.
      (result.verifier, result.revocationListFile, result.ocspStapling) = (nil, nil, .ignored)
      result.requestsStapleForVerifier = false
    }
    return result
  }
}
