// Misbehaviour+Connecting: peers that misbehave before reading a request: after accepting, or in the TLS handshake.

import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Testing

extension Misbehaviour {
  static let connecting = accepting + handshakes + cutFlights

  private static let accepting: [Misbehaviour] = [
    Misbehaviour(
      name: "closes right after accepting", ending: .closes, outcome: .fails(.connectionLost, .firstByte)
    ) { _ in },
    Misbehaviour(
      name: "resets right after accepting", ending: .resets, isForClearOnly: true,
      // The phase and the error depend on when the reset arrives.
      outcome: .error([.connectFailed, .connectionLost], [.connect, .send, .firstByte])
    ) { _ in },
    Misbehaviour(
      name: "resets when the request arrives", ending: .resets, outcome: .fails(.connectionLost, .firstByte)
    ) { _ = try $0.receive() },
    Misbehaviour(
      name: "speaks TLS on an http port", ending: .closes, isForClearOnly: true,
      outcome: .fails(.connectionLost, .firstByte)
    ) { peer in
      // OpenSSL recognizes the HTTP request and fails without a reply.
      do { try peer.startTLS(TestAuthority.identity()) } catch is TLSError {}
    },
    Misbehaviour(
      name: "answers with a TLS alert on an http port", ending: .closes, quote: "isn't HTTP",
      isForClearOnly: true, outcome: .malformed
    ) { peer in
      _ = try peer.receive()
      try peer.send([21, 3, 1, 0, 2, 2, 10])
    },
    Misbehaviour(
      name: "answers with an SSH greeting", quote: "SSH-2.0", isForClearOnly: true, outcome: .malformed
    ) { peer in
      _ = try peer.receive()
      try peer.send("SSH-2.0-OpenSSH_9.2\r\n")
    },
  ]

  /// Creates a TLS server that reads a ClientHello and sends `answer` in reply.
  private static func handshake(
    _ name: String, then ending: Ending, quote: String = "", _ outcome: Outcome, _ answer: [UInt8]
  ) -> Misbehaviour {
    Misbehaviour(name: name, way: .tls, stage: .connected, ending: ending, quote: quote, outcome: outcome) { peer in
      _ = try peer.receive()
      try peer.send(answer)
    }
  }

  private static let handshakes: [Misbehaviour] = [
    Misbehaviour(
      name: "closes before reading the ClientHello", way: .tls, stage: .connected, ending: .closes,
      quote: "during the TLS handshake", outcome: .fails(.connectionLost, .tls)
    ) { _ in },
    handshake("closes after the ClientHello", then: .closes, .fails(.connectionLost, .tls), []),
    handshake("resets after the ClientHello", then: .resets, .fails(.connectionLost, .tls), []),
    handshake(
      "answers the ClientHello with clear text", then: .closes, quote: "doesn't use TLS", .fails(.tlsFailed, .tls),
      Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)),
    handshake(
      "answers the ClientHello with zeros", then: .holds, .fails(.tlsFailed, .tls), [UInt8](repeating: 0, count: 9)),
    handshake(
      "refuses the handshake (alert 40)", then: .closes, quote: "alert 40", .fails(.tlsFailed, .tls),
      [21, 3, 3, 0, 2, 2, 40]),
    handshake(
      "supports no common TLS version (alert 70)", then: .closes, quote: "no TLS version",
      .fails(.tlsFailed, .tls), [21, 3, 3, 0, 2, 2, 70]),
    handshake(
      "closes with a warning alert (alert 0)", then: .closes, .error([.tlsFailed, .connectionLost], [.tls]),
      [21, 3, 3, 0, 2, 1, 0]),
    handshake(
      "sends a record longer than TLS allows", then: .holds, .fails(.tlsFailed, .tls),
      [22, 3, 3, 0xFF, 0xFF] + [UInt8](repeating: 2, count: 9)),
    handshake(
      "sends data during the handshake", then: .holds, .fails(.tlsFailed, .tls), [23, 3, 3, 0, 2, 1, 1]),
    certificate(
      "presents a foreign certificate", quote: "127.0.0.1", try TestAuthority.identity(names: ["other"], addresses: [])
    ),
    certificate("presents an expired certificate", quote: "expired", try TestAuthority.identity(validity: .expired)),
    certificate("presents a certificate of an unknown authority", quote: "unknown authority", try .throwaway()),
  ]

  private static func certificate(
    _ name: String, quote: String, _ identity: @autoclosure @escaping @Sendable () throws -> ServerIdentity
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, way: .tls, stage: .connected, quote: quote, outcome: .fails(.tlsFailed, .tls)
    ) { try $0.startTLS(identity()) }
  }

  /// Servers that close the connection after the first bytes of a handshake flight: the first or second one in TLS 1.2, or the only
  /// one in TLS 1.3.
  private static let cutFlights: [Misbehaviour] =
    [1, 4, 5, 6, 100, 700].map { count in
      Misbehaviour(
        name: "closes after \(count) bytes of its ServerHello", way: .tls, stage: .connected, ending: .closes,
        outcome: .fails(.connectionLost, .tls)
      ) { peer in
        var server = try HandshakingServer(versions: .v1_2 ... .v1_3)
        let flight = try server.flight(behind: peer.receive())
        #expect(flight.count > 700)
        try peer.send(Array(flight.prefix(count)))
      }
    } + [
      Misbehaviour(
        name: "closes one byte before the end of its flight in TLS 1.3", way: .tls, stage: .connected,
        ending: .closes, outcome: .fails(.connectionLost, .tls)
      ) { peer in
        var server = try HandshakingServer(versions: .v1_3 ... .v1_3)
        try peer.send(server.flight(behind: peer.receive()).dropLast())
      },
      Misbehaviour(
        name: "damages the last byte of its flight in TLS 1.3", way: .tls, stage: .connected,
        outcome: .fails(.tlsFailed, .tls)
      ) { peer in
        var server = try HandshakingServer(versions: .v1_3 ... .v1_3)
        var flight = try server.flight(behind: peer.receive())
        flight[flight.count - 1] ^= 1
        try peer.send(flight)
      },
      Misbehaviour(
        name: "closes after its first flight in TLS 1.2", way: .tls, stage: .connected, ending: .closes,
        outcome: .fails(.connectionLost, .tls)
      ) { peer in
        var server = try HandshakingServer(versions: .v1_2 ... .v1_2)
        try peer.send(server.flight(behind: peer.receive()))
      },
      Misbehaviour(
        name: "closes within its second flight in TLS 1.2", way: .tls, stage: .connected, ending: .closes,
        outcome: .fails(.connectionLost, .tls)
      ) { peer in
        var server = try HandshakingServer(versions: .v1_2 ... .v1_2)
        try peer.send(server.flight(behind: peer.receive()))
        var second: [UInt8] = []
        while second.isEmpty { second = try server.flight(behind: peer.receive()) }
        try peer.send(second.dropLast())
      },
      Misbehaviour(
        name: "closes without close_notify after the TLS handshake", way: .tls,
        outcome: .fails(.connectionLost, .send, .firstByte)
      ) { $0.finishSendingWithoutNotify() },
    ]
}

extension Peer {
  fileprivate func send(_ bytes: ArraySlice<UInt8>) throws { try send(Array(bytes)) }
}

/// The certificate authority that the engines in these tests trust.
enum TestAuthority {
  // The authority is created once, because generating keys is slow.
  private static let authority = Result { try ThrowawayAuthority() }
  private static let good = Result { try certificate(names: [], addresses: ["127.0.0.1"]) }

  static func certificate() throws -> ThrowawayAuthority.Identity { try good.get() }

  private static func certificate(
    names: [String], addresses: [String], validity: ThrowawayAuthority.Validity = .valid
  ) throws -> ThrowawayAuthority.Identity {
    try authority.get().issue(names: names, addresses: addresses, validity: validity)
  }

  static func identity() throws -> ServerIdentity {
    try ServerIdentity(certificate(), authorityPEM: authority.get().certificatePEM)
  }

  static func identity(
    names: [String] = [], addresses: [String] = ["127.0.0.1"], validity: ThrowawayAuthority.Validity = .valid
  ) throws -> ServerIdentity {
    try ServerIdentity(
      certificate(names: names, addresses: addresses, validity: validity),
      authorityPEM: authority.get().certificatePEM)
  }
}

/// The server's side of a TLS handshake. The test decides which of its output is sent to the client.
struct HandshakingServer: ~Copyable {
  private var session: TLSSession

  init(versions: ClosedRange<TLSVersion>) throws {
    let identity = try TestAuthority.certificate()
    session = try TLSSession(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
        applicationProtocols: ["http/1.1"], versions: versions))
  }

  /// Processes the bytes that the client has sent, and returns the server's reply.
  mutating func flight(behind received: [UInt8]) throws -> [UInt8] {
    guard !received.isEmpty else { throw OriginError.truncatedRequest }
    session.receive(received.span.bytes)
    _ = try session.handshake()
    var output: [UInt8] = []
    session.drainOutput(into: &output)
    return output
  }
}
