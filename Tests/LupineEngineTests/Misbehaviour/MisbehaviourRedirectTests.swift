// MisbehaviourRedirectTests: runs every detour of the table against the engine over sockets. Checks where the request
// arrives, and that both servers' connections remain usable.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("A server that redirects", .timeLimit(.minutes(10)))
struct MisbehaviourRedirectTests {
  @Test(
    "the client either follows each redirect in the test table to the expected URL or fails as expected",
    arguments: Detour.all)
  func follows(_ detour: Detour) async throws {
    let servers = try Servers(detour)
    defer { servers.stop() }
    var request = EngineRequest(uri: try URI("\(servers.here.url)/main"))
    if detour.isSecure { request.uri = try URI("https://127.0.0.1:\(servers.here.port)/main") }
    detour.prepare(&request)
    switch (detour.outcome, await servers.follow(request)) {
    case (.arrives(let text), .success(let response)):
      #expect(String(decoding: response.body, as: UTF8.self) + fragment(response) == text)
    case (.fails(let code, let quote), .failure(let error)):
      #expect(error.code == code, "\(error)")
      #expect(error.description.contains(quote), "\(error)")
      #expect(error.description.isOneLine(at: "\(error.origin)"), "\(error)")
    case (_, .success(let response)):
      Issue.record("The redirect was followed to \(response.uri)")
    case (_, .failure(let error)):
      Issue.record("\(error)")
    }
    for (name, server) in [("here", servers.here), ("there", servers.there)] {
      let scheme = detour.isSecure && name == "here" ? "https" : "http"
      let record = try await servers.engine.record("\(scheme)://127.0.0.1:\(server.port)/next")
      #expect(record.text == "\(name): GET /next")
      #expect(record.finishCount == 1)
    }
  }

  @Test("the test table of redirects has at least 40 rows, whose names are unique")
  func table() {
    #expect(Detour.all.count >= 40)
    #expect(Set(Detour.all.map(\.name)).count == Detour.all.count)
  }

  private func fragment(_ response: CollectedResponse) -> String { response.uri.fragment.map { "#\($0)" } ?? "" }
}

/// The two servers of one redirect test, and the engine that sends the request to them.
private struct Servers {
  let here: OriginServer
  let there: OriginServer
  let engine: Engine

  init(_ detour: Detour) throws {
    let identity = try TestAuthority.identity()
    // Each server refers to the other, so both need their ports before the first request.
    let ports = Mutex<[String: UInt16]>([:])
    let serve = { @Sendable (name: String, peer: Peer) in
      while let request = try peer.readRequest() {
        if let redirect = detour.redirect(request) {
          let ports = ports.withLock { $0 }
          try peer.send(
            redirect.replacing("{here}", with: "http://127.0.0.1:\(ports["here"] ?? 0)")
              .replacing("{there}", with: "http://127.0.0.1:\(ports["there"] ?? 0)")
              .replacing("{port}", with: "\(ports["there"] ?? 0)"))
          try detour.then(peer)
        } else {
          try peer.respond(body: Array("\(name): \(request.quote)".utf8))
        }
      }
    }
    here = try OriginServer(tls: detour.isSecure ? identity : nil) { try serve("here", $0) }
    there = try OriginServer { try serve("there", $0) }
    ports.withLock { [here, there] in $0 = ["here": here.port, "there": there.port] }
    var configuration = EngineConfiguration()
    configuration.tls.trustRoots = [.pem(identity.authorityPEM)]
    configuration.proxy = .none
    engine = try Engine(configuration: configuration)
  }

  func follow(_ request: EngineRequest) async -> Result<CollectedResponse, EngineError> {
    do throws(EngineError) {
      return .success(try await engine.collect(request, redirects: RedirectRule()))
    } catch {
      return .failure(error)
    }
  }

  func stop() {
    here.stop()
    there.stop()
  }
}

extension ReceivedRequest {
  /// A description of the request: its request line, the names of its sensitive fields, and its body.
  fileprivate var quote: String {
    let names = ["Authorization", "Cookie", "Proxy-Authorization", "X-Own"].filter { fields.contains($0) }
    let content = body.isEmpty ? [] : [String(decoding: body, as: UTF8.self)]
    return (["\(method) \(target)"] + names + content).joined(separator: ", ")
  }
}
