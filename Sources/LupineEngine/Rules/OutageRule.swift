// OutageRule: decides whether a failure is an outage, for which a cache may serve a stale response (RFC 5861 §4).

extension EngineError {
  /// Whether the error means an outage of the origin, the network or this machine, as a gateway would report it with 500, 502, 503
  /// or 504. Only then may a cache serve a stored response with `stale-if-error` in place of the error.
  ///
  /// An error isn't an outage if the server or the proxy hasn't proven its identity, or if the caller's settings forbid the
  /// request: a stored response would hide such an error. For the same reason, a TLS error isn't an outage.
  ///
  /// But a connection that ended or stalled during the TLS handshake is an outage, as in the other phases. A load balancer whose
  /// servers have failed ends connections there, and a gateway reports that with 502. An attacker on the path gains nothing by ending
  /// the handshake, because he can also refuse the connection, which must count as an outage.
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
