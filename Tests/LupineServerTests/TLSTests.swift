// TLSTests: TLS with real servers: trust, versions, and the error for each bad certificate.

import LupineEngine
import LupineTestSupport
import Testing

@Suite("TLS with real servers", .timeLimit(.minutes(10)))
struct TLSTests {
  private func cause(_ error: EngineError, sourceLocation: SourceLocation = #_sourceLocation) throws -> TLSError {
    guard case .tls(let cause) = error.cause else {
      Issue.record("The error isn't a TLS error: \(error)", sourceLocation: sourceLocation)
      throw error
    }
    return cause
  }

  @Test(
    "the client accepts a valid certificate, and the metrics contain the TLS parameters",
    arguments: [Server.nginxTLS, .caddyTLS])
  func good(server: Server) async throws {
    let response = try await Engine.forServers().collect(server, "/text.txt")
    #expect(response.text == TextPage.text)
    let metric = try response.metric
    let tls = try #require(metric.tls)
    #expect(tls.protocolVersion == "TLSv1.3")
    #expect(tls.cipherSuite.hasPrefix("TLS_"))
    #expect(tls.cipherSuiteCode >> 8 == 0x13)
    // caddy prefers HTTP/2, which the engine doesn't offer.
    #expect(tls.applicationProtocol == "http/1.1")
    #expect(!tls.isResumed)
    let times = [metric.connectStart, metric.tlsStart, metric.tlsEnd, metric.connectEnd, metric.requestStart]
    #expect(times == times.sorted { ($0?.nanoseconds ?? 0) < ($1?.nanoseconds ?? 0) })
    #expect(times.allSatisfy { $0 != nil })
  }

  @Test(
    "the client accepts a certificate that lists the server's IP address if the URL contains this address",
    arguments: ProcessStatus.hasIPv6 ? ["127.0.0.1", "[::1]"] : ["127.0.0.1"])
  func addresses(host: String) async throws {
    let uri = try await Server.nginxTLS.uri("/small.txt", host: host)
    #expect(try await Engine.forServers().collect(EngineRequest(uri: uri)).text == "small\n")
  }

  @Test(
    "each kind of invalid certificate causes a different error with a remedy",
    arguments: [
      (Server.expired, TLSError.Code.certificateExpired, "expired on 2021-01-01"),
      (.wrongHost, .hostMismatch, "but for wrong.example"),
      (.selfSigned, .selfSigned, "self-signed"),
    ])
  func bad(server: Server, code: TLSError.Code, words: String) async throws {
    let error = try await Engine.forServers().failure(server, "/small.txt")
    #expect(error.code == .tlsFailed)
    #expect(error.phase == .tls)
    #expect(error.progress == .nothingSent)
    #expect(try cause(error).code == code)
    #expect(error.description.contains(words))
    #expect(error.description.hasPrefix("https://localhost:\(server.rawValue): "))
    // Without verification, the request succeeds.
    let trusting = try Engine.forServers { $0.tls.verification = .none }
    #expect(try await trusting.collect(server, "/small.txt").text == "small\n")
  }

  @Test("the client refuses a certificate of an unknown authority")
  func unknownAuthority() async throws {
    let error = try await Engine.forServers { $0.tls.trustRoots = [.system] }.failure(.nginxTLS, "/")
    #expect(error.code == .tlsFailed)
    #expect(try cause(error).code == .unknownAuthority)
    #expect(error.description.contains("trustRoots"))
  }

  @Test("the client accepts a self-signed certificate if it is configured as a trust root")
  func trustedSelfSigned() async throws {
    let engine = try Engine.forServers { $0.tls.trustRoots = [.file("\(Server.folder)/pki/self-signed.crt")] }
    #expect(try await engine.collect(.selfSigned, "/small.txt").text == "small\n")
  }

  @Test("the client refuses TLS 1.0 and 1.1")
  func oldVersions() async throws {
    let error = try await Engine.forServers().failure(.oldVersions, "/")
    #expect(error.code == .tlsFailed)
    #expect(error.phase == .tls)
    #expect(try cause(error).code == .protocolVersion)
  }

  @Test(
    "if a server supports only one TLS version, the client uses that version",
    arguments: [(Server.tls12, "TLSv1.2"), (.tls13, "TLSv1.3")])
  func versions(server: Server, version: String) async throws {
    let response = try await Engine.forServers().collect(server, "/")
    #expect(response.text == "\(version)\n")
    #expect(try response.metric.tls?.protocolVersion == version)
  }

  @Test("if a server supports no TLS version in the configured range, the request fails")
  func limits() async throws {
    let old = try Engine.forServers { $0.tls.maximumVersion = .v1_2 }
    #expect(try await old.collect(.nginxTLS, "/small.txt").metric.tls?.protocolVersion == "TLSv1.2")
    #expect(try cause(await old.failure(.tls13, "/")).code == .protocolVersion)
    let new = try Engine.forServers { $0.tls.minimumVersion = .v1_3 }
    #expect(try await new.collect(.nginxTLS, "/small.txt").metric.tls?.protocolVersion == "TLSv1.3")
    #expect(try cause(await new.failure(.tls12, "/")).code == .protocolVersion)
  }

  @Test(
    "the server selects an ALPN protocol that the client offers, and refuses the handshake if it supports none of them")
  func applicationProtocols() async throws {
    func engine(_ protocols: [String]) throws -> Engine {
      try Engine.forServers { $0.tls.applicationProtocols = protocols }
    }
    for server in [Server.nginxTLS, .caddyTLS] {
      let none = try await engine([]).collect(server, "/small.txt")
      #expect(try none.metric.tls?.applicationProtocol == nil)
      let some = try await engine(["unheard-of", "http/1.1"]).collect(server, "/small.txt")
      #expect(try some.metric.tls?.applicationProtocol == "http/1.1")
      // The server refuses the handshake with the alert no_application_protocol (RFC 7301 §3.2).
      let refused = try await engine(["unheard-of"]).failure(server, "/small.txt")
      #expect(refused.code == .tlsFailed)
      #expect(try cause(refused).code == .alert(120))
    }
  }

  @Test(
    "with each TLS version, a second connection to a server resumes the TLS session of the first connection",
    arguments: [Server.nginxTLS, .caddyTLS, .tls12, .tls13])
  func resumption(server: Server) async throws {
    let engine = try Engine.forServers()
    var infos: [TLSInfo] = []
    for index in 0..<4 {
      let response = try await engine.collect(server, "/small.txt", fields: ["Connection": "close"])
      #expect(response.status == 200)
      infos.append(try #require(try response.metric.tls))
      #expect(try response.metric.connectionID == UInt64(index + 1))
    }
    #expect(infos.map(\.isResumed) == [false, true, true, true])
    // Another engine doesn't have the TLS sessions of this one.
    #expect(try await Engine.forServers().collect(server, "/small.txt").metric.tls?.isResumed == false)
  }

  @Test("without a client certificate, a request to a server that requires one gets a 400 response")
  func clientCertificateMissing() async throws {
    let response = try await Engine.forServers().collect(.clientCertificate, "/")
    #expect(response.status == 400)
    #expect(response.text.contains("No required SSL certificate was sent"))
  }

  @Test("a TLS connection transfers large bodies in both directions")
  func bothWays() async throws {
    let engine = try Engine.forServers()
    let body = PatternBytes.make(3_000_000)
    let put = try await engine.collect(.nginxTLS, "/uploads/tls", method: "PUT", body: RequestBody(body))
    #expect([201, 204].contains(put.status))
    let get = try await engine.collect(.nginxTLS, "/uploads/tls")
    #expect(get.body == body)
    #expect(try get.metric.isReusedConnection)
    #expect(try await engine.collect(.nginxTLS, "/uploads/tls", method: "DELETE").status == 204)
  }

  @Test("a response with Connection: close succeeds if TLS is closed properly, and fails if the response is truncated")
  func closedConnections() async throws {
    let engine = try Engine.forServers()
    #expect(try await engine.collect(.nginxTLS, "/close").text == "bye\n")
    let error = try await engine.failure(.nginxTLS, "/drop/length")
    #expect(error.code == .connectionLost)
    #expect(error.phase == .receive)
    let empty = try await engine.failure(.nginxTLS, "/empty")
    #expect(empty.code == .connectionLost)
    #expect(empty.phase == .firstByte)
  }
}
