// OutageRuleTests: the failures for which a cache may serve a stale response.

import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

@Suite struct OutageRuleTests {
  private static let origin = Origin(scheme: .https, host: "a", port: 443)

  @Test("for stale-if-error, failures to reach the origin or to get a well-formed response head count as outages")
  func outages() {
    let codes: [EngineError.Code] = [
      .hostNotFound, .resolveFailed, .connectionRefused, .connectFailed, .proxyFailed, .timedOut, .connectionLost,
      .malformedResponse, .outOfResources, .tooManyWaiting,
    ]
    for code in codes { #expect(EngineError(code, .connect, Self.origin).isOutage, "\(code)") }
    let refused = EngineError.Cause.proxy(ProxyError(.refused(status: 502), "p:1"))
    #expect(EngineError(.proxyFailed, .proxy, Self.origin, cause: refused).isOutage)
  }

  @Test(
    "for stale-if-error, a connection that ends or stalls counts as an outage in each phase, also during the TLS handshake"
  )
  func phases() {
    for phase in [Phase.connect, .tls, .send, .firstByte, .receive] {
      for code in [EngineError.Code.connectionLost, .timedOut] {
        #expect(EngineError(code, phase, Self.origin).isOutage, "\(code), \(phase)")
      }
    }
  }

  @Test("for stale-if-error, refusals, TLS failures and the caller's own limits don't count as outages")
  func refusals() {
    let codes: [EngineError.Code] = [
      .invalidRequest, .addressRefused, .cancelled, .decodingFailed, .tooManyRedirects, .redirectRefused, .bodyTooLarge,
      .bodyUnreadable, .bodyNotReplayable, .shutDown,
    ]
    for code in codes { #expect(!EngineError(code, .connect, Self.origin).isOutage, "\(code)") }
    let tls: [TLSError.Code] = [
      .certificateExpired, .certificateNotYetValid, .hostMismatch, .selfSigned, .unknownAuthority,
      .certificateInvalid(verifyCode: 23), .refusedByVerifier, .ocsp(.revoked), .alert(40), .handshakeFailed,
    ]
    for code in tls {
      let cause = EngineError.Cause.tls(TLSError(code: code, message: ""))
      #expect(!EngineError(.tlsFailed, .tls, Self.origin, cause: cause).isOutage, "\(code)")
    }
    let unproven = EngineError.Cause.proxy(ProxyError(.identityUnproven, "p:1"))
    #expect(!EngineError(.proxyFailed, .proxy, Self.origin, cause: unproven).isOutage)
  }
}
