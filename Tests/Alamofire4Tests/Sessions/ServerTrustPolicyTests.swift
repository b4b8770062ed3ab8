// ServerTrustPolicyTests: the servers that each policy trusts, and the errors for refused servers.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct ServerTrustPolicyTests {
  private let server: OriginServer
  private let authority: SecCertificate
  /// The server's leaf certificate. The server sends no other certificate.
  private let leaf: SecCertificate
  private let stranger: SecCertificate

  init() throws {
    func certificate(_ pem: [UInt8]) throws -> SecCertificate {
      let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }
      let der = try #require(Data(base64Encoded: lines.joined()))
      return try #require(SecCertificateCreateWithData(nil, der))
    }
    // The tests' session doesn't trust this authority.
    let issuer = try ThrowawayAuthority()
    let issued = try issuer.issue(names: ["localhost"], addresses: ["127.0.0.1", "::1"])
    let identity = try ServerIdentity(issued, authorityPEM: issuer.certificatePEM)
    server = try OriginServer.serving(tls: identity) { _ in .text("trusted") }
    authority = try certificate(issuer.certificatePEM)
    leaf = try certificate(issued.certificatePEM)
    stranger = try certificate(ServerIdentity.throwaway().authorityPEM)
  }

  private func response(_ policy: ServerTrustPolicy?) async -> DataResponse<String> {
    let policies = policy.map { ["localhost": $0] } ?? [:]
    let manager = makeManager(policies: ServerTrustPolicyManager(policies: policies))
    let response = await manager.request(server.url).string()
    // If its manager were deallocated, the request would be cancelled.
    withExtendedLifetime(manager) {}
    return response
  }

  private func isTrusted(_ policy: ServerTrustPolicy) async -> Bool { await response(policy).value == "trusted" }

  @Test("a request to a host without a policy fails with URLSession's error if the certificate's authority is unknown")
  func none() async {
    let error = await response(nil).error as? URLError
    #expect(error != nil && error?.code != .cancelled)
  }

  @Test("a session manager shares no cached responses for hosts with a trust policy, or with a subclass for any host")
  func sharedCache() {
    final class ChoosingNone: ServerTrustPolicyManager {
      override func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? { nil }
    }
    let plain = ServerTrustPolicyManager(policies: ["a.example": .disableEvaluation]).evaluation
    #expect(plain.mayDecide("a.example") && !plain.mayDecide("b.example"))
    #expect(ChoosingNone(policies: [:]).evaluation.mayDecide("b.example"))
  }

  @Test("a host's trust policy is found whatever the spelling of the host, so that a pin isn't bypassed")
  func spellings() {
    let manager = ServerTrustPolicyManager(
      policies: ["API.Example.com": .disableEvaluation, "[2001:DB8::1]": .disableEvaluation])
    for host in ["api.example.com", "api.example.com.", "API.Example.com", "2001:db8::1", "2001:db8:0::1"] {
      #expect(manager.serverTrustPolicy(forHost: host) != nil, "\(host)")
      #expect(manager.evaluation.mayDecide(host), "\(host)")
    }
    #expect(manager.serverTrustPolicy(forHost: "example.com") == nil && !manager.evaluation.mayDecide("example.com"))
    #expect(manager.policies.count == 2)
  }

  @Test("if a trust policy refuses the server, the request is cancelled, and the underlying error states the reason")
  func refusal() async {
    let error = await response(.performDefaultEvaluation(validateHost: true)).error as? URLError
    #expect(error?.code == .cancelled)
    #expect(error?.localizedDescription.contains("localhost") == true)
    #expect(error?.userInfo[NSUnderlyingErrorKey] != nil)
    #expect(await !isTrusted(.performRevokedEvaluation(validateHost: true, revocationFlags: 0)))
  }

  @Test(
    "performRevokedEvaluation detects a revoked certificate only with the methods that its flags select, OCSP or CRL")
  func revocation() async throws {
    let issuer = try ThrowawayAuthority()
    let latest = Shared<ThrowawayAuthority.Identity?>(nil)
    let lists = try OriginServer.serving { request in
      let revoked = request.path == "/revoked" ? [latest.value].compactMap(\.self) : []
      return Reply(.bytes(try issuer.revocationList(revoking: revoked)))
    }
    for isRevoked in [false, true] {
      let issued = try issuer.issue(names: ["localhost"], lists: ["\(lists.url)/\(isRevoked ? "revoked" : "good")"])
      latest.update { $0 = issued }
      let server = try OriginServer.serving(tls: ServerIdentity(issued, authorityPEM: issuer.certificatePEM)) { _ in
        .text("trusted")
      }
      for (flags, isTrusted) in [
        (kSecRevocationCRLMethod | kSecRevocationRequirePositiveResponse, !isRevoked),
        // The certificate names no responder, and the server staples no response.
        (kSecRevocationOCSPMethod, true), (kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse, false),
        (0, false),
      ] {
        let policy = ServerTrustPolicy.performRevokedEvaluation(validateHost: true, revocationFlags: flags)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.engine.tls.trustRoots = [.pem(issuer.certificatePEM)]
        configuration.engine.proxy = .none
        let policies = ServerTrustPolicyManager(policies: ["localhost": policy])
        let manager = SessionManager(configuration: configuration, serverTrustPolicyManager: policies)
        let value = await manager.request(server.url).string().value
        #expect((value == "trusted") == isTrusted, "flags \(flags), revoked: \(isRevoked)")
        withExtendedLifetime(manager) {}
      }
    }
  }

  @Test("the trust policy disableEvaluation trusts every server")
  func disabled() async { #expect(await isTrusted(.disableEvaluation)) }

  @Test(
    "the customEvaluation closure receives the host, and the closure's result decides whether the server is trusted",
    arguments: [true, false])
  func custom(isTrusted expected: Bool) async {
    let hosts = Shared<[String]>([])
    let trusted = await isTrusted(
      .customEvaluation { _, host in
        hosts.update { $0.append(host) }
        return expected
      })
    #expect(trusted == expected)
    #expect(hosts.value.first == "localhost")
  }

  // Such policies are common in programs for version 4, whose own evaluation is written in the same way.
  @Test("a customEvaluation with the Security framework's functions of version 4's time pins a certificate and its key")
  func customPinning() async {
    func pins(_ anchor: SecCertificate, key: SecKey, host: String = "localhost") -> ServerTrustPolicy {
      .customEvaluation { serverTrust, _ in
        SecTrustSetPolicies(serverTrust, [SecPolicyCreateSSL(true, host)])
        SecTrustSetAnchorCertificates(serverTrust, [anchor])
        SecTrustSetAnchorCertificatesOnly(serverTrust, true)
        var result = SecTrustResultType.invalid
        let status = SecTrustEvaluate(serverTrust, &result)
        guard status == errSecSuccess, result == .unspecified || result == .proceed else { return false }
        for index in 0..<SecTrustGetCertificateCount(serverTrust) {
          guard let certificate = SecTrustGetCertificateAtIndex(serverTrust, index) else { return false }
          var trust: SecTrust?
          let created = SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &trust)
          if created == errSecSuccess, let trust, SecTrustCopyPublicKey(trust) == key { return true }
        }
        return false
      }
    }
    #expect(await isTrusted(pins(authority, key: leaf.publicKey)))
    #expect(await isTrusted(pins(authority, key: authority.publicKey)))
    #expect(await !isTrusted(pins(authority, key: stranger.publicKey)))
    #expect(await !isTrusted(pins(stranger, key: leaf.publicKey)))
    #expect(await !isTrusted(pins(authority, key: leaf.publicKey, host: "other.example")))
  }

  @Test(
    "pinCertificates uses its certificates as trust anchors or, without validation, compares them with the server's")
  func certificates() async {
    func pins(_ certificate: SecCertificate, chain: Bool, host: Bool = true) -> ServerTrustPolicy {
      .pinCertificates(certificates: [certificate], validateCertificateChain: chain, validateHost: host)
    }
    #expect(await isTrusted(pins(authority, chain: true)))
    #expect(await isTrusted(pins(leaf, chain: true)))
    #expect(await !isTrusted(pins(stranger, chain: true)))
    #expect(await isTrusted(pins(leaf, chain: false)))
    #expect(await !isTrusted(pins(stranger, chain: false)))
    // Without validation, pins aren't anchors, so the chain has only the certificate that the server sends.
    #expect(await !isTrusted(pins(authority, chain: false)))
    #expect(
      await !isTrusted(.pinCertificates(certificates: [], validateCertificateChain: false, validateHost: false)))
  }

  @Test("pinPublicKeys compares its keys with the keys of the certificates in the server's chain")
  func keys() async throws {
    func pins(_ certificate: SecCertificate, chain: Bool) -> ServerTrustPolicy {
      .pinPublicKeys(publicKeys: [certificate.publicKey], validateCertificateChain: chain, validateHost: true)
    }
    #expect(await isTrusted(pins(leaf, chain: false)))
    #expect(await !isTrusted(pins(stranger, chain: false)))
    // The server doesn't send its authority's certificate, and no anchor has that key.
    #expect(await !isTrusted(pins(authority, chain: false)))
    // The chain isn't valid, because no trust root has issued it.
    #expect(await !isTrusted(pins(leaf, chain: true)))
  }

  @Test("a trust policy with validateHost requires a certificate that is valid for the host")
  func hosts() async throws {
    let identity = try ServerIdentity.throwaway(names: ["other.example"], addresses: [])
    let server = try OriginServer.serving(tls: identity) { _ in .text("trusted") }
    let lines = String(decoding: identity.authorityPEM, as: UTF8.self).split(separator: "\n")
    let der = try #require(Data(base64Encoded: lines.filter { !$0.hasPrefix("-----") }.joined()))
    let pin = try #require(SecCertificateCreateWithData(nil, der))
    for validatesHost in [true, false] {
      let policy = ServerTrustPolicy.pinCertificates(
        certificates: [pin], validateCertificateChain: true, validateHost: validatesHost)
      let manager = makeManager(policies: ServerTrustPolicyManager(policies: ["localhost": policy]))
      #expect((await manager.request(server.url).string().value == "trusted") != validatesHost)
    }
  }

  @Test(
    "the closure sessionDidReceiveChallenge receives server trust challenges, and decides whether to trust the server")
  func closure() async throws {
    let hosts = Shared<[String]>([])
    for (disposition, isTrusted) in [
      (URLSession.AuthChallengeDisposition.useCredential, true), (.performDefaultHandling, false),
      (.cancelAuthenticationChallenge, false),
    ] {
      let manager = makeManager()
      manager.delegate.sessionDidReceiveChallenge = { _, challenge in
        hosts.update { $0.append(challenge.protectionSpace.host) }
        #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust)
        return (disposition, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
      }
      let response = await manager.request(server.url).string()
      #expect((response.value == "trusted") == isTrusted, "\(disposition)")
      let isCancelled = (response.error as? URLError)?.code == .cancelled
      #expect(isCancelled == (disposition == .cancelAuthenticationChallenge))
      withExtendedLifetime(manager) {}
    }
    #expect(hosts.value == ["localhost", "localhost", "localhost"])
    let later = makeManager()
    later.delegate.sessionDidReceiveChallengeWithCompletion = { _, challenge, completion in
      completion(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
    #expect(await later.request(server.url).string().value == "trusted")
    withExtendedLifetime(later) {}
  }

  @Test("if a trust policy refuses the server, the delegate's challenge closure isn't called")
  func closureAndPolicy() async {
    let count = Shared(0)
    for (policy, isTrusted) in [
      (ServerTrustPolicy.disableEvaluation, true), (.customEvaluation { _, _ in false }, false),
    ] {
      let manager = makeManager(policies: ServerTrustPolicyManager(policies: ["localhost": policy]))
      manager.delegate.sessionDidReceiveChallenge = { _, challenge in
        count.update { $0 += 1 }
        return (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
      }
      #expect((await manager.request(server.url).string().value == "trusted") == isTrusted)
      withExtendedLifetime(manager) {}
    }
    #expect(count.value == 1)
  }

  @Test(
    "ServerTrustPolicy reads certificates and keys from a bundle, and a manager's subclass can choose a host's policy")
  func bundles() async throws {
    #expect(ServerTrustPolicy.certificates().count == ServerTrustPolicy.publicKeys().count)
    final class Choosing: ServerTrustPolicyManager {
      override func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? { .disableEvaluation }
    }
    let choosing = Choosing(policies: [:])
    #expect(choosing.policies.isEmpty)
    let manager = makeManager(policies: choosing)
    #expect(await manager.request(server.url).string().value == "trusted")
    withExtendedLifetime(manager) {}
  }
}
