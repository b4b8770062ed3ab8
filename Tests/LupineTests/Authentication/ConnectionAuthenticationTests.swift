// NTLM, which authenticates a connection: its messages and its end (MS-NLMP). LupineLoginTests tests the states.

import Foundation
import LupineEngine
import LupineOrigin
import LupineWire
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ConnectionAuthenticationTests {
  private func withNTLM<Value>(
    _ server: NTLMServer, tls: ServerIdentity? = nil, _ body: (OriginServer, Session) async throws -> Value
  ) async throws -> Value {
    try await withOrigin(tls: tls) { peer in
      try peer.serve { server.reply(to: $0, on: peer.connectionIndex) }
    } _: { origin in
      try await withSession {
        if let tls { $0.engine.tls.trustRoots = [.pem(tls.authorityPEM)] }
      } _: { session in
        try await body(origin, session)
      }
    }
  }

  @Test(
    "NTLM's first message is sent without the request's body, and requests without the credential use other connections",
    arguments: [false, true])
  func ntlm(isEncrypted: Bool) async throws {
    let server = NTLMServer()
    try await withNTLM(server, tls: isEncrypted ? ServerIdentity.throwaway() : nil) { origin, session in
      let first = await session.upload(Data("content".utf8), to: origin.url).authenticate(username: "u", password: "p")
        .serializingString().response
      #expect(first.value == "in content" && first.response?.statusCode == 200)
      #expect(server.messages == ["0:0", "1:1", "1:3"])
      let other = await session.request(origin.url).serializingString().response
      #expect(other.value == "refused" && server.messages.last == "0:0")
      let wrong = await session.request(origin.url).authenticate(username: "w", password: "p").serializingString()
        .response
      #expect(wrong.value == "refused" && wrong.response?.statusCode == 401)
      #expect(server.messages.suffix(3) == ["0:0", "2:1", "2:3"])
      // The request reuses the authenticated connection without further NTLM messages.
      let again = await session.request(origin.url).authenticate(username: "u", password: "p").serializingString()
        .response
      #expect(again.value == "in " && server.messages.suffix(2) == ["0:0", "1:0"])
    }
  }

  @Test("eight concurrent NTLM requests succeed, with bodies from memory, files and streams")
  func concurrent() async throws {
    let server = NTLMServer()
    try await withNTLM(server) { origin, session in
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data("content".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for _ in 0..<5 {
        try await withThrowingTaskGroup(of: String?.self) { group in
          for index in 0..<8 {
            group.addTask {
              let upload =
                switch index % 3 {
                case 0: session.upload(Data("content".utf8), to: origin.url)
                case 1: session.upload(file, to: origin.url)
                default: session.upload(InputStream(data: Data("content".utf8)), to: origin.url)
                }
              let isStream = index % 3 == 2
              let response = await upload.authenticate(username: "u", password: "p").serializingString().response
              return isStream && response.error != nil ? "in content" : response.value
            }
          }
          for try await text in group { #expect(text == "in content") }
        }
      }
    }
  }

  @Test(
    "if the server closes the connection before NTLM's last message, the request fails, and that message isn't sent")
  func closed() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        return peer.connectionIndex > 0 ? reply.with("Connection", "close") : reply
      }
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).authenticate(username: "u", password: "p").outcome()
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .networkConnectionLost && error.localizedDescription.contains("during NTLM"))
        #expect(server.messages == ["0:0", "1:1", "2:1"])
      }
    }
  }

  @Test(
    "if the 401 with the NTLM challenge closes the connection or has a long body, NTLM restarts once on a new connection",
    arguments: [false, true])
  func closedOnce(isLong: Bool) async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        guard peer.connectionIndex == 1 else { return reply }
        // The server is still sending the 4 GiB body when the engine discards the response.
        return isLong
          ? Reply(status: reply.status, fields: reply.fields, .pattern(byteCount: 1 << 32))
          : reply.with("Connection", "close")
      }
    } _: { origin in
      try await withSession { session in
        let response = await session.upload(Data("content".utf8), to: origin.url)
          .authenticate(username: "u", password: "p").serializingString().response
        #expect(response.value == "in content" && response.response?.statusCode == 200)
        #expect(server.messages == ["0:0", "1:1", "2:1", "2:3"])
      }
    }
  }

  @Test("after the server has closed an NTLM connection, another NTLM handshake authenticates a new connection")
  func replaced() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        return reply.status == 200 ? reply.with("Connection", "close") : reply
      }
    } _: { origin in
      try await withSession { session in
        for _ in 0..<2 {
          let response = await session.request(origin.url).authenticate(username: "u", password: "p")
            .serializingString().response
          #expect(response.value == "in ")
        }
        #expect(server.messages == ["0:0", "1:1", "1:3", "0:0", "2:1", "2:3"])
      }
    }
  }

  @Test("requests with the storage's default credential reuse the NTLM connection without waiting for a challenge")
  func preemptive() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { server.reply(to: $0, on: peer.connectionIndex) }
    } _: { origin in
      let storage = URLCredentialStorage()
      storage.setDefaultCredential(
        URLCredential(user: "u", password: "p", persistence: .forSession),
        for: URLProtectionSpace(
          host: "127.0.0.1", port: Int(origin.port), protocol: "http", realm: "127.0.0.1",
          authenticationMethod: NSURLAuthenticationMethodNTLM))
      try await withSession {
        $0.urlCredentialStorage = storage
      } _: { session in
        for _ in 0..<3 { #expect(await session.request(origin.url).serializingString().response.value == "in ") }
        #expect(server.messages == ["0:0", "1:1", "1:3", "1:0", "1:0"])
      }
    }
  }

  @Test(
    "after a redirect to another origin, the client doesn't send an NTLM message to that origin")
  func redirected() async throws {
    let server = NTLMServer()
    try await withServer { request in
      .text("\(request.fields.first("Authorization") ?? "nothing")")
    } _: { other in
      try await withOrigin { peer in
        try peer.serve { request in
          let reply = server.reply(to: request, on: peer.connectionIndex)
          return reply.status == 200 ? Reply(status: 302, fields: ["Location": other.url]) : reply
        }
      } _: { origin in
        try await withSession { session in
          let response = await session.request(origin.url).authenticate(username: "u", password: "p")
            .serializingString().response
          #expect(response.value == "nothing")
        }
      }
    }
  }
}
