// Transfer+Identity: the client certificate of a transfer's origin, from the session's memory or from the observer.

import LupineEngine

extension Transfer {
  /// Adds the client certificate that the session's delegate has chosen for the request's origin. Has no effect if the TLS settings
  /// of the request or the session contain a certificate. If the server is known to request a certificate, but none has been chosen
  /// yet, returns the names of the authorities whose certificates the server accepts. Otherwise returns nil.
  func identify(_ request: inout EngineRequest) -> [[UInt8]]? {
    guard request.uri.origin.scheme == .https, choosesIdentity(request) else { return nil }
    switch client.identities.known(about: request.uri.origin) {
    case nil: return nil
    case .chosen(let choice):
      request.identityChoice = choice
      return nil
    case .requested(let authorities): return authorities
    }
  }

  /// Returns whether the observer chooses the client certificate for the request. This is true if neither the request's nor the
  /// session's TLS settings contain a certificate.
  func choosesIdentity(_ request: EngineRequest) -> Bool { request.choosesIdentity(client.settings.engine.tls) }

  /// Asks the observer for a client certificate for the origin. If one has been chosen for the whole session in the meantime, uses
  /// that certificate instead.
  func askForIdentity(_ origin: Origin, _ authorities: [[UInt8]], _ observer: any TransferObserver) {
    client.identities.note(requestOf: authorities, by: origin)
    if case .chosen(let choice) = client.identities.known(about: origin) {
      return ask { question in self.apply { $0.answered(question, .identify(choice)) } }
    }
    let challenge = URLAuthenticationChallenge(identityRequestedBy: origin, from: authorities)
    ask { question in
      observer.transfer(isAskedFor: challenge) { outcome in
        self.apply { (state: inout TransferState) -> [TransferState.Action] in
          if case .identify(let choice, isRemembered: true) = outcome, state.awaitsAnswer(to: question) {
            self.client.identities.choose(choice, for: origin)
          }
          return state.answered(question, TransferState.Answer(outcome))
        }
      }
    }
  }

  /// If `error` means that the server refuses the client certificate, removes the certificate that the session has remembered for
  /// the origin, so that later tasks receive a challenge again. Ignores a TLS alert from a proxy, because proxies receive no client
  /// certificate.
  func noteRefusal(_ error: EngineError) {
    guard error.phase != .proxy, case .tls(let error) = error.cause, error.refusesIdentity else { return }
    client.identities.forget(currentOrigin)
  }
}

extension TLSError {
  /// Whether the error is a TLS alert by which the server refuses the client certificate (RFC 8446 §6.2).
  var refusesIdentity: Bool {
    // Alerts from bad_certificate (42) to certificate_unknown (46), and unknown_ca (48), but not illegal_parameter (47).
    if case .alert(let alert) = code { (42...46).contains(alert) || alert == 48 } else { false }
  }
}
