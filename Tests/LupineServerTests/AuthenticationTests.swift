// AuthenticationTests: servers and proxies that verify credentials: squid with stale nonces, and a proxy with TLS.

import Foundation
import Lupine
import LupineEngine
import LupineTestSupport
import LupineURLSession
import Testing

// These tests must not run concurrently: while squid 5.7 looks up a user's password for one request, it accepts other requests of
// that user with any password.
@Suite("Authentication with real servers", .serialized, .timeLimit(.minutes(10)))
struct AuthenticationTests {
  private func session(_ servers: TestServer..., through proxy: Proxy? = nil) throws -> Lupine.Session {
    for server in servers { try server.require() }
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    configuration.engine.proxy = proxy.map { .fixed($0) } ?? .none
    return Lupine.Session(configuration: configuration)
  }

  private func status(_ request: DataRequest) async -> Int? {
    await request.serializingData(emptyResponseCodes: Set(100...599)).response.response?.statusCode
  }

  @Test("eight concurrent requests authenticate to squid with Digest, even when the nonces become stale")
  func digestProxy() async throws {
    let proxy = try Proxy(
      .http, host: "127.0.0.1", port: TestServer.squidDigest.rawValue, user: "user", password: "pass")
    let session = try session(.squidDigest, .nginx, .nginxTLS, .apache, through: proxy)
    // squid 5.7 stalls on a connection on which it has refused a longer body.
    let body = Data(repeating: 7, count: 1_000)
    for round in 0..<4 {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<8 {
          let url = index % 2 == 0 ? "\(TestServer.nginx.origin)/small.txt" : "\(TestServer.nginxTLS.origin)/small.txt"
          group.addTask {
            if index == 6 {
              let text = await session.upload(body, to: "\(TestServer.apache.origin)/count").serializingString()
                .response
              return text.value?.contains("1000") == true
            }
            return await session.request(url).serializingString().response.value == "small\n"
          }
        }
        for try await isRight in group { #expect(isRight, "round \(round)") }
      }
    }
    withExtendedLifetime(session) {}
  }

  @Test(
    "with a wrong password, an http request gets squid's 407 response, and an https request an error without the password"
  )
  func digestProxyRefuses() async throws {
    let proxy = try Proxy(
      .http, host: "127.0.0.1", port: TestServer.squidDigest.rawValue, user: "refused", password: "hidden")
    let session = try session(.squidDigest, .nginx, .nginxTLS, through: proxy)
    #expect(await status(session.request("\(TestServer.nginx.origin)/small.txt")) == 407)
    let response = await session.request("\(TestServer.nginxTLS.origin)/small.txt").serializingString().response
    let error = try #require(response.error?.underlyingError as? URLError)
    #expect(error.code == .cannotConnectToHost && error.localizedDescription.contains("407"))
    #expect(!response.debugDescription.contains("hidden"))
  }

  @Test("a proxy that is reached over TLS accepts credentials for forwarded http requests and for https tunnels")
  func encryptedProxy() async throws {
    let proxy = try Proxy("https://user:pass@localhost:\(TestServer.encryptedProxy.rawValue)")
    let session = try session(.encryptedProxy, .nginx, .nginxTLS, through: proxy)
    for _ in 0..<3 {
      for server in [TestServer.nginx, .nginxTLS] {
        #expect(await session.request("\(server.origin)/small.txt").serializingString().response.value == "small\n")
      }
    }
    let count = await session.request("\(TestServer.nginxTLS.origin)/big.bin").serializingData().response.value?.count
    #expect(count == 256 << 20)
    withExtendedLifetime(session) {}
  }

  @Test(
    "a session answers Digest and NTLM challenges of Apache and lighttpd with the URL's login; a wrong one gets a 401",
    arguments: [
      (TestServer.apache, "/digest/count", "user"), (.lighttpd, "/dmd5/count", "user"),
      (.lighttpd, "/d256/count", "user"), (.apache, "/ntlm/count", "TESTDOM%5Cuser"),
    ])
  func loginInURL(server: TestServer, path: String, user: String) async throws {
    let session = try session(server)
    for (password, expected) in [("pass", 200), ("wrong", 401)] {
      let url = "http://\(user):\(password)@localhost:\(server.rawValue)\(path)"
      #expect(await status(session.request(url)) == expected)
    }
    withExtendedLifetime(session) {}
  }
}
