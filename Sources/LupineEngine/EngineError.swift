// EngineError: the engine's error, which states the event, phase, origin, cause and remedy.

public import LupineCoding
public import LupineReactor
public import LupineTLS

/// The error of an exchange that ended without a response or with an incomplete response.
public struct EngineError: Error, Sendable {
  /// The kind of an `EngineError`.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request can't be serialized. Nothing was sent.
    case invalidRequest
    /// The host name doesn't exist, or has no address.
    case hostNotFound
    /// The host lookup failed, for example because no name server responded. A name that doesn't exist has the code `hostNotFound`.
    case resolveFailed
    /// The engine's address policy doesn't permit a connection to the origin.
    case addressRefused
    /// The peer, which is the origin or its proxy, refused the connection, because no process listens on the port.
    case connectionRefused
    /// No connection could be opened, for a reason that has no separate code, such as an unreachable network.
    case connectFailed
    /// The proxy can't be used, or refused to connect to the origin.
    case proxyFailed
    /// TLS failed, for example because of the certificate or the protocol versions.
    case tlsFailed
    /// A phase, or the entire exchange, exceeded its time limit.
    case timedOut
    /// The caller cancelled the exchange.
    case cancelled
    /// The connection ended before the response was complete.
    case connectionLost
    /// The response violates the HTTP specification.
    case malformedResponse
    /// The response body can't be decoded: its content coding is unknown, its data is malformed, or it expands beyond the limits.
    case decodingFailed
    /// The request was redirected more often than its `RedirectRule` allows, or in a cycle that the rule doesn't allow.
    case tooManyRedirects
    /// The response redirects from https to http, which the request's `RedirectRule` doesn't allow.
    case redirectRefused
    /// The response body is longer than the request or the engine's configuration allows.
    case bodyTooLarge
    /// The request body couldn't be read from its file or producer, or its length differs from the declared length.
    case bodyUnreadable
    /// The request would have to be sent again, but its body can't be sent again.
    case bodyNotReplayable
    /// The system has run out of threads, memory or socket buffers. If only descriptors have run out, exchanges wait
    /// instead.
    case outOfResources
    /// The request can't wait for a connection, because the maximum number of exchanges already waits for one.
    case tooManyWaiting
    /// The engine was shut down or released.
    case shutDown
  }

  /// The cause of an `EngineError`: the error of a lower layer, such as TLS, or the limit that was exceeded.
  public enum Cause: Sendable {
    /// A malformed HTTP message, or a request that can't be serialized.
    case wire(WireError)
    /// The error of a TLS session, such as a certificate that isn't trusted.
    case tls(TLSError)
    /// A malformed proxy URL, or an error of the proxy.
    case proxy(ProxyError)
    /// The error of a failed system call, such as `connect: No route to host`.
    case system(SystemError)
    /// The error of a failed host lookup.
    case resolve(ResolveError)
    /// A refusal by the address policy or by the request's own settings: the refused addresses, or a proxy that isn't permitted.
    case refusal(AddressRefusal)
    /// A response body that can't be decoded, or a request body that can't be encoded.
    case coding(CodingError)
    /// A redirect target that isn't a valid URI.
    case uri(URIError)
    /// The exchange exceeded the time limit of a phase. The associated value is that limit.
    case limit(Duration)
    /// The exchange exceeded its total time limit. The associated value is that limit.
    case totalLimit(Duration)
    /// The exchange exceeded a maximum. The associated value is that maximum: a number of redirects, bytes or waiting exchanges.
    case maximum(Int)
    /// The error that the producer of the request body threw.
    case producer(any Error)
    /// The declared length of the request body in bytes, and the number of bytes that the producer had written when the difference
    /// was found.
    case bodyLength(declared: UInt64, produced: UInt64)
  }

  /// The progress of the exchange when it failed, which determines whether the request may be sent again.
  public enum Progress: Int, Sendable, Hashable {
    /// No byte of the request was sent.
    case nothingSent
    /// At least part of the request was sent, and no byte of a response was received.
    case sent
    /// At least one byte of a response was received.
    case responseBegan
  }

  /// The kind of error, such as `.hostNotFound`.
  public let code: Code
  /// The phase of the exchange in which the error occurred.
  public let phase: Phase
  /// The origin of the request.
  public let origin: Origin
  /// The proxy through which the request was sent or would have been sent, or nil if there is none.
  public let proxy: Proxy?
  /// The error of a lower layer or the limit that was exceeded, or nil if there is neither.
  public let cause: Cause?
  /// The progress of the exchange when it failed.
  public let progress: Progress
  /// Whether the connection had been used or idle before this request, so that the peer may have closed it in the meantime.
  public let wasReused: Bool

  package init(
    _ code: Code, _ phase: Phase, _ origin: Origin, proxy: Proxy? = nil, cause: Cause? = nil,
    progress: Progress = .nothingSent, wasReused: Bool = false
  ) {
    self.code = code
    self.phase = phase
    self.origin = origin
    self.proxy = proxy
    self.cause = cause
    self.progress = progress
    self.wasReused = wasReused
  }
}

extension EngineError: CustomStringConvertible {
  /// One line for logs and users, which states the origin and the proxy, the cause of the error and the remedy.
  public var description: String {
    let place = proxy.map { "\(origin) through \($0)" } ?? "\(origin)"
    // A cause may quote the peer.
    return "\(place): \(explanation)".printable
  }

  // Errors of the layers above the kernel already state a remedy.
  private var explanation: String {
    switch (code, cause) {
    case (_, .wire(let error)): error.description
    case (_, .tls(let error)): error.description
    case (_, .coding(let error)): error.description
    case (_, .proxy(let error)): error.description
    case (_, .refusal(let refusal)): refusal.description
    case (_, .uri(let error)): "the redirect target isn't a valid URL: \(error)"
    case (.hostNotFound, _): "the host name doesn't exist, or has no address. Check its spelling."
    case (.resolveFailed, .resolve(let error)): "the host lookup failed (\(error)). Check the name servers."
    case (.connectionRefused, _): "no server listens on the port. Check host and port, and that the server is running."
    case (.connectFailed, .system(let error)):
      "the connection couldn't be opened (\(error)). Check the address and the network."
    case (.timedOut, .limit(let limit)): Self.explain(phase, limit)
    // A redirected request has the time that the requests before it have left.
    case (.timedOut, .totalLimit(let limit)) where limit <= .zero:
      "no time was left for the request, so it wasn't sent. Raise the total timeout."
    case (.timedOut, .totalLimit(let limit)):
      "the request didn't finish within \(limit.formattedSeconds) (phase: \(phase.rawValue)). Raise the "
        + "total timeout."
    case (.cancelled, _): "the request was cancelled in phase \(phase.rawValue). Send it again if you still need it."
    case (.connectionLost, .system(let error)):
      "the connection was lost in phase \(phase.rawValue) (\(error)). Try again, or check the server's log."
    case (.connectionLost, nil) where phase == .poolWait:
      "the connection was closed before its authentication was complete. Check that the server or the proxy "
        + "keeps connections open during NTLM and Negotiate."
    case (.tooManyRedirects, .maximum(let count)):
      "the server redirected more than \(count) times. Check for a redirect loop, or raise the limit."
    case (.tooManyRedirects, nil):
      "the server redirected to a URL that the request had visited. Fix the server, or allow cycles in the redirect rule."
    case (.redirectRefused, _): "the redirect from https to http would send the request unencrypted. Fix the server."
    case (.bodyTooLarge, .maximum(let count)): "the response body has more than \(count) bytes. Raise the limit."
    case (.bodyUnreadable, .system(let error)): "the request body can't be read (\(error)). Check the file."
    case (.bodyUnreadable, .producer(let error)): "the request body's producer failed (\(error)). Check its source."
    case (.bodyUnreadable, .bodyLength(let declared, let produced)):
      "the request body was declared as \(declared) bytes, but its producer wrote \(produced). Correct byteCount, or "
        + "omit it."
    case (.bodyNotReplayable, _):
      "the request must be sent again, but its body isn't replayable. Use bytes, a file or a replayable producer."
    case (.outOfResources, .system(let error)):
      "the system's resources are exhausted (\(error)). Raise its limits (ulimit -n), or free memory."
    case (.tooManyWaiting, .maximum(let count)):
      "\(count) requests are already waiting for a connection. Send fewer at once, or raise PoolLimits.waitersMax."
    case (.outOfResources, .resolve(let error)):
      "the system has no memory, thread or descriptor left for the host lookup (\(error)). Free memory, or raise the "
        + "process's limits (ulimit -v, -u, -n)."
    case (.shutDown, _): "the engine was shut down. Create a new one."
    default: "\(code.rawValue) in phase \(phase.rawValue). Try again, or check the server's log."
    }
  }

  private static func explain(_ phase: Phase, _ limit: Duration) -> String {
    let seconds = limit.formattedSeconds
    return switch phase {
    case .setup: "the request wasn't started within \(seconds). Raise the timeout."
    case .poolWait:
      "no connection became available within \(seconds). Raise the limit on connections or descriptors (ulimit -n), "
        + "or the timeout."
    case .resolve: "the host lookup took longer than \(seconds). Check the name servers, or raise the timeout."
    case .connect:
      "no connection was established within \(seconds). Check host, port and firewall, and that the server accepts "
        + "connections, or raise the connect timeout."
    case .proxy: "the proxy didn't respond within \(seconds). Check the proxy, or raise the timeout."
    case .tls:
      "the TLS handshake took longer than \(seconds). Check that the server uses TLS on this port, or raise the "
        + "timeout."
    case .send: "no data of the request could be sent for \(seconds). Check the server, or raise the timeout."
    case .awaitContinue:
      "the server didn't answer Expect: 100-continue within \(seconds). Check the server, or raise the timeout."
    case .firstByte: "the server didn't respond within \(seconds). Check the server, or raise the timeout."
    case .receive: "the response stalled or was incomplete after \(seconds). Check the server, or raise the timeout."
    }
  }
}

extension Duration {
  /// The duration in seconds with at most three decimals, such as "0.25 s" or "10 s".
  package var formattedSeconds: String {
    let (seconds, attoseconds) = components
    let thousandths = attoseconds / 1_000_000_000_000_000
    guard thousandths > 0 else { return "\(seconds) s" }
    var digits = String(thousandths + 1000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(seconds).\(digits) s"
  }
}
