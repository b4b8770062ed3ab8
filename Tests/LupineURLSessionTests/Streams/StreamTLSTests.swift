// StreamTLSTests: stream tasks that start TLS on an open connection, with servers that are trusted, refused, or attacked.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite("TLS of stream tasks", .timeLimit(.minutes(10)))
struct StreamTLSTests {
  typealias Deciding = ServerTrustChallengeTests.Deciding

  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
  }

  private func withStream(
    to host: String = "localhost", trusting roots: [UInt8]? = nil, _ delegate: (any URLSessionDelegate)? = nil,
    server handler: @escaping @Sendable (Peer) throws -> Void,
    _ body: (URLSessionStreamTask) async throws -> Void
  ) async throws {
    let server = try OriginServer(handler: handler)
    defer { server.stop() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 100
    configuration.engine.proxy = .none
    configuration.engine.tls.trustRoots = [.pem(roots ?? authority.certificatePEM)]
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    try await body(session.streamTask(withHostName: host, port: Int(server.port)))
  }

  private func line(_ task: URLSessionStreamTask) async throws -> String {
    let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 1000, timeout: 60)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  @Test("TLS starts in the middle of a conversation, and both sides close it", arguments: [TLSVersion.v1_2, .v1_3])
  func startTLS(version: TLSVersion) async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM, versions: version...version)
    let ending = Recorder<Peer.Ending.Cause>()
    let notes = StreamTaskTests.StreamNotes()
    try await withStream(
      notes,
      server: { peer in
        try peer.send("220 ready")
        #expect(try peer.receive() == Array("STARTTLS".utf8))
        try peer.send("go ahead")
        try peer.startTLS(server)
        #expect(peer.tlsInfo?.applicationProtocol == nil)
        try peer.send("secret of the server")
        #expect(try peer.receive() == Array("secret of the client".utf8))
        peer.finishSending()
        ending.record(try peer.awaitClose().cause)
      }
    ) { task in
      task.resume()
      #expect(try await line(task) == "220 ready")
      try await task.write(Data("STARTTLS".utf8), timeout: 60)
      #expect(try await line(task) == "go ahead")
      task.startSecureConnection()
      #expect(try await line(task) == "secret of the server")
      try await task.write(Data("secret of the client".utf8), timeout: 60)
      let end = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60)
      #expect(end.0 == Data() && end.1)
      task.startSecureConnection()
      task.closeWrite()
      #expect(await ending.next() == .closed)
      #expect(await notes.events.first(4) == ["read closed", "write closed", "metrics true true", "end"])
    }
  }

  @Test("large data passes through TLS in both directions")
  func large() async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    let data = Data(Pattern.bytes(0..<4 << 20))
    try await withStream(server: { peer in
      try peer.startTLS(server)
      while true {
        let bytes = try peer.receive()
        if bytes.isEmpty { break }
        try peer.send(bytes)
      }
      peer.finishSending()
    }) { task in
      task.startSecureConnection()
      task.resume()
      async let written: Void = task.write(data, timeout: 100)
      var heard = Data()
      while heard.count < data.count {
        heard += try await task.readData(ofMinLength: 1, maxLength: 50_000, timeout: 100).0 ?? Data()
      }
      try await written
      #expect(heard == data)
    }
  }

  @Test("a certificate that isn't trusted fails the task, and nothing that was to be encrypted is sent")
  func refused() async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    let (seen, isDone) = (Recorder<String>(), Gate())
    try await withStream(
      trusting: try ThrowawayAuthority().certificatePEM,
      server: { peer in
        do {
          try peer.startTLS(server)
          seen.record("\((try? peer.receive())?.count ?? 0)")
        } catch {
          seen.record("refused")
        }
        isDone.open()
      }
    ) { task in
      task.resume()
      task.startSecureConnection()
      #expect(
        await code { try await task.write(Data("password".utf8), timeout: 60) } == .serverCertificateHasUnknownRoot)
      await isDone.wait()
      #expect(["refused", "0"].contains(await seen.next()))
      #expect(await settles { task.state == .completed })
      #expect((task.error as? URLError)?.code == .serverCertificateHasUnknownRoot)
    }
  }

  @Test("the certificate must match the stream's host")
  func wrongHost() async throws {
    let other = try authority.issue(names: ["other.test"])
    let server = try ServerIdentity(other, authorityPEM: authority.certificatePEM)
    try await withStream(server: { peer in try? peer.startTLS(server) }) { task in
      task.resume()
      task.startSecureConnection()
      #expect(await code { try await task.write(Data("x".utf8), timeout: 60) } == .serverCertificateUntrusted)
    }
  }

  @Test(
    "the session's delegate gets the challenge about a stream's server, and may accept or refuse it",
    arguments: [true, false])
  func challenge(isAccepted: Bool) async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    let delegate = Deciding { challenge, complete in
      if isAccepted { return ServerTrustChallengeTests.accept(challenge, complete) }
      complete(.cancelAuthenticationChallenge, nil)
    }
    try await withStream(
      trusting: try ThrowawayAuthority().certificatePEM, delegate,
      server: { peer in
        try? peer.startTLS(server)
        try? peer.send("welcome")
        _ = try? peer.awaitClose()
      }
    ) { task in
      task.resume()
      task.startSecureConnection()
      if isAccepted {
        let welcome = try await line(task)
        #expect(welcome == "welcome")
      } else {
        #expect(await code { try await line(task) } == .cancelled)
      }
      #expect(delegate.hosts == ["localhost"])
    }
  }

  @Test("bytes that an attacker injects in the clear before TLS never reach the program", arguments: [false, true])
  func injection(isRead: Bool) async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    try await withStream(server: { peer in
      try peer.send("go ahead\nforged reply\n")
      try? peer.startTLS(server)
      _ = try? peer.awaitClose()
    }) { task in
      task.resume()
      // The program reads only the first line, exactly or with the rest left over after a time limit.
      let (first, _) = try await task.readData(ofMinLength: 9, maxLength: 9, timeout: 60)
      #expect(first == Data("go ahead\n".utf8))
      if isRead {
        #expect(await code { try await task.readData(ofMinLength: 100, maxLength: 100, timeout: 0.2) } == .timedOut)
      }
      task.startSecureConnection()
      #expect(await code { try await line(task) } == .secureConnectionFailed)
    }
  }

  @Test("a server that doesn't speak TLS fails the task, and so does one that cuts TLS off without close_notify")
  func broken() async throws {
    try await withStream(server: { peer in
      _ = try peer.receive()
      try peer.send("I don't understand")
      _ = try peer.awaitClose()
    }) { task in
      task.resume()
      task.startSecureConnection()
      #expect(await code { try await line(task) } == .secureConnectionFailed)
    }
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    try await withStream(server: { peer in
      try peer.startTLS(server)
      try peer.send("part")
      peer.finishSendingWithoutNotify()
      _ = try? peer.awaitClose()
    }) { task in
      task.startSecureConnection()
      task.resume()
      let part = try await line(task)
      #expect(part == "part")
      #expect(await code { try await line(task) } == .networkConnectionLost)
    }
  }

  @Test("through an https proxy, a stream starts TLS within the proxy's, and closeWrite sends close_notify in both")
  func encryptedProxy() async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
    let ending = Recorder<Peer.Ending.Cause>()
    let proxy = try OriginServer(tls: server) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\nhello")
      #expect(try peer.receive() == Array("TLS".utf8))
      try peer.startTLS(server)
      #expect(try peer.receive() == Array("abc".utf8))
      ending.record(try peer.awaitClose().cause)
    }
    defer { proxy.stop() }
    let settings = ProxySettings.fixed(try Proxy("https://localhost:\(proxy.port)"))
    let roots = authority.certificatePEM
    try await withSession({
      $0.engine.proxy = settings
      $0.engine.tls.trustRoots = [.pem(roots)]
    }) { session in
      let task = session.streamTask(withHostName: "localhost", port: 25)
      task.resume()
      #expect(try await line(task) == "hello")
      try await task.write(Data("TLS".utf8), timeout: 60)
      task.startSecureConnection()
      try await task.write(Data("abc".utf8), timeout: 60)
      task.closeWrite()
      #expect(await ending.next() == .closed)
    }
  }

  @Test("the TLS handshake has a time limit")
  func timeout() async throws {
    let server = try OriginServer { peer in try peer.wait(for: Gate()) }
    defer { server.stop() }
    try await withSession({
      $0.engine.proxy = .none; $0.timeoutIntervalForRequest = 0.3
    }) { session in
      let task = session.streamTask(withHostName: "localhost", port: Int(server.port))
      task.resume()
      task.startSecureConnection()
      #expect(await code { try await line(task) } == .timedOut)
    }
  }
}
