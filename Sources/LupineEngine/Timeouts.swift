// Timeouts: the time limits of an exchange's phases.

/// The phases of an exchange, in the order in which they occur.
public enum Phase: String, Sendable, Hashable, CaseIterable {
  /// The engine has received the request, but hasn't started the exchange.
  case setup
  /// The exchange waits for a connection and none is being opened on its behalf, because a limit of connections is reached or
  /// descriptors have run out.
  case poolWait
  /// The lookup of the host, or of the proxy's host, is in progress.
  case resolve
  /// A TCP connection is being opened.
  case connect
  /// The proxy is opening a tunnel to the origin.
  case proxy
  /// The TLS handshake is in progress.
  case tls
  /// The request is being sent.
  case send
  /// The request head has been sent, and the body waits for the server's `100 Continue`.
  case awaitContinue
  /// The request has been sent, and the exchange waits for the first byte of the response.
  case firstByte
  /// The response is being received.
  case receive
}

/// The time limits of an exchange and its phases. Nil means no limit; fractions of a second are possible.
///
/// While the response is paused, by `ExchangeHandle.pause` or because the receive window is used up, the limits of the phases are
/// suspended, except those for opening a connection. `total` is never suspended. The defaults of 60 s equal Foundation's
/// `timeoutIntervalForRequest`.
public struct Timeouts: Sendable, Hashable {
  /// The time limit for waiting for a connection while none is being opened for the exchange. 60 s by default.
  public var poolWait: Duration? {
    get { storage.limits.poolWait }
    set { change { $0.poolWait = newValue } }
  }
  /// The time limit for each lookup of the host or the proxy's host. 15 s by default, slightly more than glibc's two attempts with
  /// a silent name server (5 s each).
  public var resolve: Duration? {
    get { storage.limits.resolve }
    set { change { $0.resolve = newValue } }
  }
  /// The time limit for opening a TCP connection, for all addresses together. 15 s by default. Go allows 30 s.
  public var connect: Duration? {
    get { storage.limits.connect }
    set { change { $0.connect = newValue } }
  }
  /// The time limit for the proxy's response to CONNECT or for the SOCKS handshake. 15 s by default, as for `connect`, because
  /// the proxy connects during that time.
  public var proxy: Duration? {
    get { storage.limits.proxy }
    set { change { $0.proxy = newValue } }
  }
  /// The time limit of the TLS handshake. 10 s by default, as in Go.
  public var tls: Duration? {
    get { storage.limits.tls }
    set { change { $0.tls = newValue } }
  }
  /// The maximum pause during which no byte of the request can be sent. 60 s by default. Pauses in which the engine waits for the
  /// body's producer don't count.
  public var send: Duration? {
    get { storage.limits.send }
    set { change { $0.send = newValue } }
  }
  /// The time for which the engine waits for `100 Continue` if the request has `Expect: 100-continue`. 1 s by default, as in curl
  /// and Go. Afterward the engine sends the body anyway (RFC 9110 §10.1.1), so this limit never fails the exchange.
  public var awaitContinue: Duration? {
    get { storage.limits.awaitContinue }
    set { change { $0.awaitContinue = newValue } }
  }
  /// The maximum time from the request's last byte, or from an interim response, to the first byte of the next response. 60 s
  /// by default.
  public var firstByte: Duration? {
    get { storage.limits.firstByte }
    set { change { $0.firstByte = newValue } }
  }
  /// The maximum pause between two bytes of the response. 60 s by default.
  public var idle: Duration? {
    get { storage.limits.idle }
    set { change { $0.idle = newValue } }
  }
  /// The time limit of the entire exchange, including replays and the redirects that
  /// `execute` and `collect` follow. None by default.
  public var total: Duration? {
    get { storage.limits.total }
    set { change { $0.total = newValue } }
  }

  /// Creates limits with the default values.
  public init() { storage = .standard }

  /// Creates limits with the same value for each phase, like an inactivity timer, and a total limit. Only `awaitContinue` keeps its
  /// default.
  public init(everyPhase limit: Duration?, total: Duration?) {
    storage = Storage(
      Limits(
        poolWait: limit, resolve: limit, connect: limit, proxy: limit, tls: limit, send: limit, firstByte: limit,
        idle: limit, total: total))
  }

  private mutating func change(_ change: (inout Limits) -> Void) {
    var limits = storage.limits
    change(&limits)
    storage = Storage(limits)
  }

  func limit(of phase: Phase) -> Duration? {
    switch phase {
    case .setup: nil
    case .poolWait: poolWait
    case .resolve: resolve
    case .connect: connect
    case .proxy: proxy
    case .tls: tls
    case .send: send
    case .awaitContinue: awaitContinue
    case .firstByte: firstByte
    case .receive: idle
    }
  }

  // MARK: Storage

  private struct Limits: Sendable, Hashable {
    var poolWait: Duration? = .seconds(60)
    var resolve: Duration? = .seconds(15)
    var connect: Duration? = .seconds(15)
    var proxy: Duration? = .seconds(15)
    var tls: Duration? = .seconds(10)
    var send: Duration? = .seconds(60)
    var awaitContinue: Duration? = .seconds(1)
    var firstByte: Duration? = .seconds(60)
    var idle: Duration? = .seconds(60)
    var total: Duration?
  }

  /// The limits of one or more copies, which share them: every request contains limits, but few requests change them, and the limits
  /// take 320 bytes.
  private final class Storage: Sendable, Hashable {
    static let standard = Storage(Limits())

    let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    static func == (left: Storage, right: Storage) -> Bool { left === right || left.limits == right.limits }

    func hash(into hasher: inout Hasher) { hasher.combine(limits) }
  }

  private var storage: Storage
}
