// ProxyAuthenticationTests+Support: sessions through a proxy, and proxies that open tunnels.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

extension ProxyAuthenticationTests {
  /// Returns a credential storage with a default credential for the proxy and the authentication method.
  func storage(
    _ proxy: OriginServer, user: String = "u", password: String = "p", method: String
  ) -> URLCredentialStorage {
    let storage = URLCredentialStorage()
    let space = URLProtectionSpace(
      proxyHost: "127.0.0.1", port: Int(proxy.port), type: NSURLProtectionSpaceHTTPProxy, realm: "r",
      authenticationMethod: method)
    storage.setDefaultCredential(URLCredential(user: user, password: password, persistence: .forSession), for: space)
    return storage
  }

  func withSession<Value>(
    through proxy: OriginServer, user: String? = nil, password: String = "p", storage: URLCredentialStorage? = nil,
    trusting identity: ServerIdentity? = nil, _ body: (Session) async throws -> Value
  ) async throws -> Value {
    let settings = try Proxy(.http, host: "127.0.0.1", port: proxy.port, user: user, password: password)
    return try await LupineTests.withSession {
      $0.engine.proxy = .fixed(settings)
      $0.urlCredentialStorage = storage
      if let identity { $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)] }
    } _: { session in
      try await body(session)
    }
  }

  /// Calls `body` with a proxy that answers each CONNECT with the reply that `answer` returns. If `answer` returns nil, the
  /// proxy accepts the tunnel, starts TLS, and answers requests with `origin`.
  func withTunnelProxy<Value>(
    _ answer: @escaping @Sendable (ReceivedRequest, Int) -> Reply?,
    origin: @escaping @Sendable (ReceivedRequest) -> Reply,
    _ body: (OriginServer, ServerIdentity) async throws -> Value
  ) async throws -> Value {
    let identity = try ServerIdentity.throwaway()
    return try await withOrigin { peer in
      while let request = try peer.readHead() {
        guard request.method == "CONNECT" else { throw OriginError.closed }
        if let reply = answer(request, peer.connectionIndex) {
          try peer.send(reply, to: request)
          continue
        }
        try peer.send("HTTP/1.1 200 OK\r\n\r\n")
        try peer.startTLS(identity)
        return try peer.serve(origin)
      }
    } _: { proxy in
      try await body(proxy, identity)
    }
  }

  static func refusal(_ challenge: String) -> Reply {
    Reply(status: 407, fields: ["Proxy-Authenticate": challenge], .bytes(Array("refused".utf8)))
  }
}
