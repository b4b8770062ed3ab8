// The engine's one error: what happened, in which phase, to which origin, why, and what to do.

public import LupineCoding
public import LupineReactor
public import LupineTLS

/// Why an exchange has no response, or no complete one.
public struct EngineError: Error, Sendable {
  /// What happened.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request can't be written; nothing was sent.
    case invalidRequest
    /// The host's name doesn't exist.
    case hostNotFound
    /// The host couldn't be looked up.
    case resolveFailed
    /// Nobody listens on the port, or on the proxy's.
    case connectionRefused
    /// No connection could be opened, for another reason.
    case connectFailed
    /// The proxy can't be used, or refused to open a way to the origin.
    case proxyFailed
    /// TLS failed: the certificate, the versions, or the peer.
    case tlsFailed
    /// A phase took longer than its limit.
    case timedOut
    /// The caller cancelled.
    case cancelled
    /// The connection ended before the response did.
    case connectionLost
    /// The reply breaks HTTP.
    case malformedResponse
    /// The body's content coding is broken, unknown or a bomb.
    case decodingFailed
    /// More redirects than allowed.
    case tooManyRedirects
    /// A redirect that must not be followed.
    case redirectRefused
    /// The body is larger than the caller allows.
    case bodyTooLarge
    /// The request's body couldn't be read from its file or producer, or had another length than it was said to have.
    case bodyUnreadable
    /// The request would have to be sent again, and its body can't be.
    case bodyNotReplayable
    /// The system has no threads, memory or room for a socket left. A connection that lacks a descriptor waits instead.
    case outOfResources
    /// As many requests wait for a connection as may.
    case tooManyWaiting
    /// The engine was shut down, or released.
    case shutDown
  }

  /// The error of the layer below.
  public enum Cause: Sendable {
    /// A message that breaks HTTP, or a request that can't be written.
    case wire(WireError)
    /// TLS.
    case tls(TLSError)
    /// The proxy's URL, or its refusal.
    case proxy(ProxyError)
    /// A system call that failed.
    case system(SystemError)
    /// A lookup that failed.
    case resolve(ResolveError)
    /// A coded body that can't be decoded, or one that can't be encoded.
    case coding(CodingError)
    /// The target of a redirect.
    case uri(URIError)
    /// The limit of the phase.
    case limit(Duration)
    /// The limit of the whole exchange.
    case totalLimit(Duration)
    /// A number of redirects or bytes.
    case maximum(Int)
    /// What the body's producer threw.
    case producer(any Error)
    /// How long the body was said to be, and how long it was when that was noticed, in bytes.
    case bodyLength(declared: UInt64, produced: UInt64)
  }

  /// How far the request got, for whoever decides about sending it again.
  public enum Delivery: Int, Sendable, Hashable {
    /// No byte of it left this machine.
    case nothingSent
    /// At least a part was sent, and no byte of a response came.
    case sent
    /// The response had begun.
    case responseBegan
  }

  /// What happened.
  public let code: Code
  /// When it happened.
  public let phase: Phase
  /// Where the request was to go.
  public let origin: Origin
  /// The proxy on the way there, if there is one.
  public let proxy: Proxy?
  /// The error of the layer below, if there is one.
  public let cause: Cause?
  /// How far the request got.
  public let delivery: Delivery
  /// Whether the connection had served another request before, or had been idle: its peer may have closed it just then.
  public let wasReused: Bool

  init(
    _ code: Code, _ phase: Phase, _ origin: Origin, proxy: Proxy? = nil, cause: Cause? = nil,
    delivery: Delivery = .nothingSent, wasReused: Bool = false
  ) {
    self.code = code
    self.phase = phase
    self.origin = origin
    self.proxy = proxy
    self.cause = cause
    self.delivery = delivery
    self.wasReused = wasReused
  }
}

extension EngineError: CustomStringConvertible {
  /// One line: what, where, why, and what to do.
  public var description: String {
    // A peer's text may be part of it, and must neither break the line nor steer a terminal.
    var line = String.UnicodeScalarView()
    let place = proxy.map { "\(origin) through \($0)" } ?? "\(origin)"
    for scalar in "\(place): \(explanation)".unicodeScalars {
      let isForbidden = [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      line.append(isForbidden ? "\u{FFFD}" : scalar)
    }
    return String(line)
  }

  // Causes of the layers above the kernel end with a remedy of their own.
  private var explanation: String {
    switch (code, cause) {
    case (_, .wire(let error)): error.description
    case (_, .tls(let error)): error.description
    case (_, .coding(let error)): error.description
    case (_, .proxy(let error)): error.description
    case (_, .uri(let error)): "redirected to a place that can't be requested: \(error)"
    case (.hostNotFound, _): "the host name doesn't exist, or has no address. Check its spelling."
    case (.resolveFailed, .resolve(let error)): "the host couldn't be looked up (\(error)). Check the name servers."
    case (.connectionRefused, _): "nobody listens on the port. Check host and port, and that the server runs."
    case (.connectFailed, .system(let error)): "no connection could be opened (\(error)). Check address and network."
    case (.timedOut, .limit(let limit)): Self.explain(phase, limit)
    case (.timedOut, .totalLimit(let limit)):
      "not complete within \(limit.formattedSeconds), in the phase \(phase.rawValue). Raise the total timeout."
    case (.cancelled, _): "cancelled while in the phase \(phase.rawValue). Send it again if it is still wanted."
    case (.connectionLost, .system(let error)):
      "the connection was cut in the phase \(phase.rawValue) (\(error)). Try again, or look at the server's log."
    case (.tooManyRedirects, .maximum(let count)):
      "redirected more than \(count) times. Look for a loop, or raise the limit."
    case (.redirectRefused, _): "redirected from https to http, which would send the request in clear. Fix the server."
    case (.bodyTooLarge, .maximum(let count)): "the body has more than \(count) bytes. Raise the limit."
    case (.bodyUnreadable, .system(let error)): "the body can't be read (\(error)). Check the file."
    case (.bodyUnreadable, .producer(let error)): "the body's producer failed (\(error)). Look at what it reads."
    case (.bodyUnreadable, .bodyLength(let declared, let produced)):
      "the body was to have \(declared) bytes, its producer came to \(produced). Correct the byteCount, or leave it out."
    case (.bodyNotReplayable, _):
      "the body would have to be sent again and can't be. Use bytes, a file or a replayable producer."
    case (.outOfResources, .system(let error)):
      "the system has no room left (\(error)). Raise its limits (ulimit -n), or free memory."
    case (.tooManyWaiting, .maximum(let count)):
      "\(count) requests wait for a connection already. Send fewer at once, or raise PoolLimits.waitersMax."
    case (.outOfResources, .resolve(let error)): "no room to look the host up (\(error)). Raise the system's limits."
    case (.shutDown, _): "the engine was shut down. Use a new one."
    default: "\(code.rawValue) in the phase \(phase.rawValue). Try again, or look at the server's log."
    }
  }

  private static func explain(_ phase: Phase, _ limit: Duration) -> String {
    let seconds = limit.formattedSeconds
    return switch phase {
    case .setup: "nothing was begun within \(seconds). Raise the timeout."
    case .poolWait:
      "no connection became free within \(seconds). Raise the limit of connections or descriptors (ulimit -n), or the timeout."
    case .resolve: "the host wasn't looked up within \(seconds). Check the name servers, or raise the timeout."
    case .connect:
      "no connection within \(seconds). Check host, port and firewall, and that the server takes connections, or raise the connect timeout."
    case .proxy: "the proxy didn't answer within \(seconds). Look at the proxy, or raise the timeout."
    case .tls: "no TLS handshake within \(seconds). Check that the port speaks TLS, or raise the timeout."
    case .send: "the server took no byte of the request for \(seconds). Look at the server, or raise the timeout."
    case .awaitContinue: "no leave to send the body within \(seconds). Look at the server, or raise the timeout."
    case .firstByte: "no reply within \(seconds). Look at the server, or raise the timeout."
    case .receive: "the response stalled, or wasn't complete, within \(seconds). Raise the timeout."
    }
  }
}

extension Duration {
  /// Such as "0.25 s" or "10 s"; thousandths at the finest.
  var formattedSeconds: String {
    let (seconds, attoseconds) = components
    let thousandths = attoseconds / 1_000_000_000_000_000
    guard thousandths > 0 else { return "\(seconds) s" }
    var digits = String(thousandths + 1000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(seconds).\(digits) s"
  }
}
