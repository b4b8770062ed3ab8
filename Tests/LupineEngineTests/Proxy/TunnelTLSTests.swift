// TunnelTLSTests: TLS in a proxy's tunnel, where the certificate must be the origin's and not the proxy's.

import LupineEngine
import LupineOrigin
import LupineReactor
import LupineTLS
import Testing

@Suite("TLS in a tunnel", .timeLimit(.minutes(10)))
struct TunnelTLSTests {
  /// A resolver that returns 127.0.0.1 for every host.
  private struct Loopback: HostResolver {
    func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
      [SocketAddress(numeric: "127.0.0.1", port: 0)].compactMap(\.self)
    }
  }

  /// Requests https://origin.example/ through proxy.example, and returns the response or the error. In the tunnel, the server
  /// presents a certificate for these names and addresses.
  private func record(
    _ scheme: Proxy.Scheme, names: [String], addresses: [String] = []
  ) async throws -> RecordingSink.Record {
    let identity = try ServerIdentity.throwaway(names: names, addresses: addresses)
    let proxy = try OriginServer { peer in
      if scheme == .http {
        _ = try peer.readHead()
        try peer.send("HTTP/1.1 200 Connection established\r\n\r\n")
      } else {
        _ = try peer.receive()
        try peer.send([5, 0])
        _ = try peer.receive()
        try peer.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
      }
      try peer.startTLS(identity)
      try peer.serve { _ in .text("origin") }
    }
    defer { proxy.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(try Proxy(scheme, host: "proxy.example", port: proxy.port))
    configuration.resolver.resolver = Loopback()
    configuration.tls.trustRoots = [.pem(identity.authorityPEM)]
    return try await Engine(configuration: configuration).record("https://origin.example/")
  }

  @Test(
    "the client accepts a certificate for the origin's name through a proxy tunnel",
    arguments: [Proxy.Scheme.http, .socks5, .socks5h])
  func origin(scheme: Proxy.Scheme) async throws {
    let record = try await record(scheme, names: ["origin.example"])
    #expect(record.text == "origin", "\(String(describing: record.error))")
  }

  @Test(
    "through a proxy tunnel, the client refuses a certificate that is for the proxy's name but not for the origin's",
    arguments: [Proxy.Scheme.http, .socks5, .socks5h])
  func proxy(scheme: Proxy.Scheme) async throws {
    let record = try await record(scheme, names: ["proxy.example"], addresses: ["127.0.0.1"])
    #expect(record.head == nil && record.error?.code == .tlsFailed && record.error?.progress == .nothingSent)
    guard case .tls(let error) = record.error?.cause else {
      Issue.record("The request ended with \(String(describing: record.error))")
      return
    }
    #expect(error.code == .hostMismatch && error.message.contains("origin.example"))
  }
}
