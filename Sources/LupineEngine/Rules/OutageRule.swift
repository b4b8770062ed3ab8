// OutageRule: decides whether a failure is an outage, for which a cache may serve a stale response (RFC 5861 §4).

extension EngineError {
  /// Whether the error means an outage of the origin, the network or this machine, as a gateway would report it with 500, 502, 503
  /// or 504. Only then may a cache serve a stored response with `stale-if-error` in place of the error.
  ///
  /// A refusal isn't an outage: if the server or the proxy can't prove who it is, or if the caller's settings forbid the request, a
  /// stored response would hide that. For the same reason, no failure of TLS is an outage, except that the connection ended, which
  /// has the code `.connectionLost`.
  package var isOutage: Bool {
    switch code {
    case .hostNotFound, .resolveFailed, .connectionRefused, .connectFailed, .timedOut, .connectionLost,
      .malformedResponse, .outOfResources, .tooManyWaiting:
      true
    case .proxyFailed: !isProxyUnproven
    case .invalidRequest, .addressRefused, .tlsFailed, .cancelled, .decodingFailed, .tooManyRedirects, .redirectRefused,
      .bodyTooLarge, .bodyUnreadable, .bodyNotReplayable, .shutDown:
      false
    }
  }

  /// Whether the proxy has failed to prove that it knows the password.
  private var isProxyUnproven: Bool {
    if case .proxy(let error) = cause, case .identityUnproven = error.cause { true } else { false }
  }
}
