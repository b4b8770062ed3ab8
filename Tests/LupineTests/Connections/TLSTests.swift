// TLSTests: servers with good and bad certificates, and servers that end their TLS connections improperly.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct TLSTests {
  @Test("a session accepts a server's valid certificate from a trusted authority")
  func good() async throws {
    let url = try await TestServers.TLS.good.url + "/json"
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
    } _: { session in
      let response = await session.request(url).validate().outcome()
      #expect(response.error == nil && response.response?.url?.scheme == "https")
      let metrics = try #require(response.metrics?.transactionMetrics.first)
      #expect(metrics.negotiatedTLSProtocolVersion == .TLSv13)
      // The numbers of TLS 1.3's cipher suites are 0x1301 to 0x1305 (RFC 8446 §B.4).
      #expect(metrics.negotiatedTLSCipherSuite.map { 0x1301...0x1305 ~= $0.rawValue } == true)
      let numeric = url.replacing("localhost", with: "127.0.0.1")
      #expect(await session.request(numeric).outcome().error == nil)
      #expect(await session.request(url.replacing("localhost", with: "[::1]")).outcome().error == nil)
    }
  }

  @Test("a session refuses a server's certificate from an untrusted authority")
  func untrusted() async throws {
    let url = try await TestServers.TLS.good.url + "/json"
    try await withSession { session in
      let response = await session.request(url).outcome()
      try expectTransferError(
        response.error, .serverCertificateHasUnknownRoot, .tlsFailed, "https://localhost:28443", "localhost")
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let server: TestServers.TLS
    let code: URLError.Code
    let part: String
    var testDescription: String { "\(server)" }
  }

  @Test(
    "an invalid server certificate is refused with the URLError code for the certificate's flaw",
    arguments: [
      Case(server: .expired, code: .serverCertificateHasBadDate, part: "expired on 2021"),
      Case(server: .wrongHost, code: .serverCertificateUntrusted, part: "wrong.example"),
      Case(server: .selfSigned, code: .serverCertificateHasUnknownRoot, part: "signed"),
      Case(server: .oldVersions, code: .secureConnectionFailed, part: "28447"),
    ])
  func bad(item: Case) async throws {
    let url = try await item.server.url
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
    } _: { session in
      let response = await session.request(url).outcome()
      let error = try expectTransferError(response.error, item.code, .tlsFailed, url, item.part)
      #expect(error.phase == .tls && error.progress == .nothingSent)
      #expect(response.response == nil)
      let metrics = try #require(response.metrics?.transactionMetrics.first)
      #expect(metrics.secureConnectionStartDate != nil && metrics.secureConnectionEndDate == nil)
      #expect(metrics.requestStartDate == nil)
    }
  }

  @Test("a request to a server whose certificate isn't valid yet fails with serverCertificateNotYetValid")
  func notYetValid() async throws {
    let identity = try ServerIdentity.throwaway(validity: .notYetValid)
    try await withServer(tls: identity) { _ in
      Reply()
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(response.error, .serverCertificateNotYetValid, .tlsFailed, origin.url)
        #expect(origin.requestCount == 0)
      }
    }
  }

  @Test("if certificate verification is disabled, a session accepts any certificate")
  func unverified() async throws {
    let url = try await TestServers.TLS.selfSigned.url
    try await withSession {
      $0.engine.tls.verification = .none
    } _: { session in
      #expect(await session.request(url + "/small.txt").serializingString().response.value == "small\n")
    }
  }

  @Test("an https request to a plain HTTP port fails in the TLS handshake")
  func plainPort() async throws {
    _ = try await TestServers.nginx
    try await withSession { session in
      let response = await session.request("https://127.0.0.1:28082").outcome()
      let error = try expectTransferError(
        response.error, .secureConnectionFailed, .tlsFailed, "https://127.0.0.1:28082")
      #expect(error.phase == .tls)
    }
  }

  @Test("a credential with a client certificate that is passed to authenticate(with:) answers the server's challenge")
  func clientCertificateCredential() async throws {
    let url = try await TestServers.TLS.clientCertificate.url + "/"
    let (certificate, key) = TestServers.client
    let identity = try SecIdentity(certificateFile: URL(filePath: certificate), privateKeyFile: URL(filePath: key))
    let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
    try await withSession {
      $0.engine.proxy = .none
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
    } _: { session in
      let response = await session.request(url).authenticate(with: credential).outcome()
      #expect(response.response?.statusCode == 200)
    }
  }

  @Test("if the server closes the connection during the TLS handshake, the EngineError's phase is tls")
  func closedInHandshake() async throws {
    try await withOrigin { peer in
      _ = try peer.receive()
    } _: { origin in
      try await withSession { session in
        let response = await session.request("https://127.0.0.1:\(origin.port)").outcome()
        let error = response.error?.underlyingError as? URLError
        #expect(
          error.map { [.secureConnectionFailed, .networkConnectionLost].contains($0.code) } == true, "\(response)")
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? EngineError)?.phase == .tls)
      }
    }
  }

  @Test(
    "over TLS, a body delimited by the connection's end is complete only after close_notify", arguments: [true, false])
  func closeNotify(isProper: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withOrigin(tls: identity) { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\n\r\npart")
      if isProper { peer.close() } else { peer.finishSendingWithoutNotify() }
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        let response = await session.request(origin.url).outcome()
        if isProper {
          #expect(response.value == Data("part".utf8))
        } else {
          let error = try expectTransferError(
            response.error, .networkConnectionLost, .connectionLost, origin.url)
          #expect(error.progress == .responseBegan)
          #expect(response.data == Data("part".utf8))
        }
      }
    }
  }

  @Test("over TLS, a body with Content-Length is complete without close_notify")
  func lengthWithoutNotify() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withOrigin(tls: identity) { peer in
      _ = try peer.readRequest()
      try peer.respond(fields: ["Connection": "close"], body: Array("whole".utf8))
      peer.finishSendingWithoutNotify()
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        #expect(await session.request(origin.url).serializingString().response.value == "whole")
      }
    }
  }

  @Test("a body of any size arrives unchanged through TLS", arguments: [1, 16_384, 16_385, 1_000_000] as [UInt64])
  func size(byteCount: UInt64) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer(tls: identity) { _ in
      Reply(.pattern(byteCount: byteCount))
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        let isIntact = try await session.request(origin.url).serializingData().value == Pattern.data(Int(byteCount))
        #expect(isIntact)
      }
    }
  }
}
