// Challenges of proxies, for forwarded requests and for CONNECT (RFC 9110 §11.7).

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ProxyAuthenticationTests {
  // MARK: Forwarded requests

  @Test("a request answers its proxy's challenge and then the origin's, because their failures are counted separately")
  func separateCounts() async throws {
    try await withServer { request in
      if request.fields.first("Proxy-Authorization") == nil { return Self.refusal("Basic realm=\"r\"") }
      if request.fields.first("Authorization") == nil {
        return .text("refused", status: 401).with("WWW-Authenticate", "Basic realm=\"origin\"")
      }
      return .text("in")
    } _: { proxy in
      let storage = storage(proxy, method: NSURLAuthenticationMethodHTTPBasic)
      try await withSession(through: proxy, storage: storage) { session in
        let response = await session.request("http://h.example/").authenticate(username: "a", password: "b")
          .serializingString().response
        #expect(response.value == "in" && response.response?.statusCode == 200)
      }
    }
  }

  @Test("after a Digest challenge from a proxy, the client no longer sends the password of the proxy's URL with Basic")
  func ownDigest() async throws {
    let server = DigestServer(isProxy: true)
    let basics = Atomic(0)
    try await withServer { request in
      if request.fields.first("Proxy-Authorization")?.hasPrefix("Basic") == true {
        basics.add(1, ordering: .relaxed)
      }
      if request.target.hasSuffix("/basic") {
        let text = request.fields.first("Proxy-Authorization") ?? "nothing"
        return .text(text, status: 407).with("Proxy-Authenticate", "Basic realm=\"r\"")
      }
      return server.reply(to: request)
    } _: { proxy in
      try await withSession(through: proxy, user: "u") { session in
        for path in ["/a", "/b"] {
          let response = await session.request("http://h.example\(path)").serializingString().response
          #expect(response.value == "in" && response.response?.statusCode == 200)
        }
        #expect(
          server.requests == ["407 http://h.example/a", "200 http://h.example/a", "200 http://h.example/b"])
        let downgraded = await session.request("http://h.example/basic").serializingString().response
        #expect(downgraded.response?.statusCode == 407 && downgraded.value?.hasPrefix("Basic") == false)
        _ = await session.request("http://h.example/basic").serializingString().response
        #expect(basics.load(ordering: .relaxed) == 1)
      }
    }
  }

  @Test(
    "a proxy's challenge is answered with the credential storage's credential for the proxy, not with the request's",
    arguments: [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest], ["p", "wrong"])
  func stored(method: String, password: String) async throws {
    let server = DigestServer(isProxy: true)
    try await withServer { request in
      guard method == NSURLAuthenticationMethodHTTPBasic else { return server.reply(to: request) }
      #expect(request.fields.first("Authorization") == nil)
      guard request.fields.first("Proxy-Authorization") == "Basic dTpw" else {
        return .text("refused", status: 407).with("Proxy-Authenticate", "Basic realm=\"r\"")
      }
      return .text("in")
    } _: { proxy in
      let storage = storage(proxy, password: password, method: method)
      try await withSession(through: proxy, storage: storage) { session in
        for round in 0..<2 {
          let response = await session.request("http://h.example/").authenticate(username: "own", password: "secret")
            .serializingString().response
          #expect(response.value == (password == "p" ? "in" : "refused"))
          #expect(response.response?.statusCode == (password == "p" ? 200 : 407))
          // After the first success, the credential is sent preemptively.
          if password == "p" { #expect(proxy.requestCount == 2 + round) }
        }
      }
    }
  }

  @Test(
    "if a proxy's Digest nonces become stale, eight concurrent requests get new ones without challenging the caller")
  func stale() async throws {
    let server = DigestServer(usesMax: 5, isProxy: true)
    try await withServer(server.reply) { proxy in
      try await withSession(through: proxy, user: "u") { session in
        for _ in 0..<5 {
          try await withThrowingTaskGroup(of: Int?.self) { group in
            for index in 0..<8 {
              group.addTask { await session.request("http://h.example/\(index)").outcome().response?.statusCode }
            }
            for try await status in group { #expect(status == 200) }
          }
        }
      }
    }
  }

  @Test("if a proxy fails to prove that it knows the password, the task fails, and the response isn't delivered")
  func forged() async throws {
    let server = DigestServer(isForged: true, isProxy: true)
    try await withServer(server.reply) { proxy in
      try await withSession(through: proxy, user: "u") { session in
        let response = await session.request("http://h.example/").serializingString().response
        #expect((response.error?.underlyingError as? URLError)?.code == .badServerResponse && response.data == nil)
      }
    }
  }

  @Test("without a proxy, a 407 from an origin isn't answered with a credential")
  func originsChallenge() async throws {
    try await withServer { _ in
      Self.refusal("Basic realm=\"r\"")
    } _: { origin in
      let storage = storage(origin, method: NSURLAuthenticationMethodHTTPBasic)
      try await LupineTests.withSession {
        $0.engine.proxy = .none
        $0.urlCredentialStorage = storage
      } _: { session in
        let response = await session.request(origin.url).authenticate(username: "u", password: "p").outcome()
        #expect(response.response?.statusCode == 407 && origin.requestCount == 1)
      }
    }
  }

  // MARK: Tunnels

  @Test(
    "after a 407, CONNECT is sent again with the storage's credential, and requests without it don't use the tunnel")
  func tunnel() async throws {
    try await withTunnelProxy { request, _ in
      request.fields.first("Proxy-Authorization") == "Basic dTpw" ? nil : Self.refusal("Basic realm=\"r\"")
    } origin: { request in
      .text(request.fields.first("Proxy-Authorization") ?? "nothing")
    } _: { proxy, identity in
      let storage = storage(proxy, method: NSURLAuthenticationMethodHTTPBasic)
      try await withSession(through: proxy, storage: storage, trusting: identity) { session in
        for _ in 0..<3 {
          let response = await session.request("https://127.0.0.1:9/").serializingString().response
          #expect(response.value == "nothing" && response.response?.statusCode == 200)
        }
        // One connection was refused, and the other one became the tunnel.
        #expect(proxy.connectionCount == 2)
        for space in storage.allCredentials.keys {
          for credential in storage.allCredentials[space]?.values.map({ $0 }) ?? [] {
            storage.remove(credential, for: space)
          }
        }
        let response = await session.request("https://127.0.0.1:9/").outcome()
        #expect((response.error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        #expect(response.response == nil && proxy.connectionCount == 3)
      }
    }
  }

  @Test(
    "if the proxy refuses the credential for CONNECT, the error contains no password, and the response isn't delivered")
  func tunnelRefused() async throws {
    try await withTunnelProxy { _, _ in
      Self.refusal("Basic realm=\"r\"")
    } origin: { _ in
      .text("in")
    } _: { proxy, identity in
      let storage = storage(proxy, password: "hidden", method: NSURLAuthenticationMethodHTTPBasic)
      try await withSession(through: proxy, storage: storage, trusting: identity) { session in
        let response = await session.request("https://127.0.0.1:9/").serializingString().response
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .cannotConnectToHost && error.localizedDescription.contains("407"))
        #expect(response.response == nil && response.data == nil && proxy.connectionCount == 2)
        for text in ["\(response)", response.debugDescription, "\(error)"] {
          #expect(!text.contains("hidden") && !text.contains("dTpoaWRkZW4="))
        }
      }
    }
  }

  @Test("each CONNECT request has a new Digest Proxy-Authorization field")
  func tunnelDigest() async throws {
    let server = DigestServer(usesMax: 2, isProxy: true)
    try await withTunnelProxy { request, _ in
      let reply = server.reply(to: request)
      return reply.status == 200 ? nil : reply
    } origin: { _ in
      Reply(fields: ["Connection": "close"], .bytes(Array("in".utf8)))
    } _: { proxy, identity in
      try await withSession(through: proxy, user: "u", trusting: identity) { session in
        for _ in 0..<5 {
          #expect(await session.request("https://127.0.0.1:9/").serializingString().response.value == "in")
        }
        #expect(server.requests.count { $0 == "200 127.0.0.1:9" } == 5)
      }
    }
  }

  @Test("the proxy's credential doesn't answer a 407 that an origin sends through the proxy's tunnel")
  func insideTunnel() async throws {
    let seen = Mutex<[String]>([])
    try await withTunnelProxy { _, _ in
      nil
    } origin: { request in
      seen.withLock { $0.append(request.fields.first("Proxy-Authorization") ?? "nothing") }
      return Self.refusal("Basic realm=\"r\"")
    } _: { proxy, identity in
      let storage = storage(proxy, method: NSURLAuthenticationMethodHTTPBasic)
      try await withSession(through: proxy, user: "u", storage: storage, trusting: identity) { session in
        let response = await session.request("https://127.0.0.1:9/").outcome()
        #expect(response.response?.statusCode == 407 && seen.withLock { $0 } == ["nothing"])
      }
    }
  }

  @Test("NTLM opens a tunnel with two CONNECT requests on the same connection", arguments: ["u", "w"])
  func tunnelNTLM(user: String) async throws {
    let server = NTLMServer(isProxy: true)
    try await withTunnelProxy { request, connection in
      let reply = server.reply(to: request, on: connection)
      return reply.status == 200 ? nil : reply
    } origin: { _ in
      .text("in")
    } _: { proxy, identity in
      try await withSession(through: proxy, user: user, trusting: identity) { session in
        let response = await session.request("https://127.0.0.1:9/").serializingString().response
        #expect(response.value == (user == "u" ? "in" : nil))
        #expect(server.messages == ["0:0", "1:1", "1:3"])
      }
    }
  }

  @Test(
    "NTLM authenticates the connection to a forwarding proxy, and a later request with the credential reuses it",
    arguments: ["u", "w"])
  func forwardedNTLM(user: String) async throws {
    let server = NTLMServer(isProxy: true)
    try await withOrigin { peer in
      try peer.serve { server.reply(to: $0, on: peer.connectionIndex) }
    } _: { proxy in
      try await withSession(through: proxy, user: user) { session in
        let first = await session.upload(Data("content".utf8), to: "http://h.example/a").serializingString().response
        #expect(first.value == (user == "u" ? "in content" : "refused"))
        guard user == "u" else { return }
        #expect(await session.request("http://h.example/b").serializingString().response.value == "in ")
        #expect(server.messages == ["0:0", "1:1", "1:3", "1:0"])
      }
    }
  }
}
