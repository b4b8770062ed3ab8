// SessionStoreTests: the entries of the store of sessions, the contexts that may use them, and the store's limits.

import Foundation
import Glibc
import LupineLoopback
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@Suite("The store of TLS sessions")
struct SessionStoreTests {
  @Test(
    "each entry of the TLS session store contains the host, port and TLS parameters of its session",
    arguments: [TLSVersion.v1_2, .v1_3])
  func entries(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let store = TLSSessionStore()
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    #expect(store.count == 0)
    let (client, _) = try fixture.visited(context, port: 8443)
    // OpenSSL's servers send two tickets in TLS 1.3.
    #expect(store.count == (version == .v1_3 ? 2 : 1))
    #expect(store.entries.count == store.count)
    for entry in store.entries {
      #expect(entry.host == "localhost")
      #expect(entry.port == 8443)
      #expect(entry.protocolVersion == client.info.protocolVersion)
      #expect(entry.cipherSuite == client.info.cipherSuite)
      #expect(entry.age >= .zero && entry.age < .seconds(60))
      #expect(entry.lifetimeHint == .seconds(7200))
      #expect(entry.isSingleUse == (version == .v1_3))
    }
  }

  @Test(
    "a single-use TLS session is removed from the store when the client offers it, and the new session's ticket replaces it"
  )
  func singleUse() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let store = TLSSessionStore()
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    _ = try fixture.visited(context)
    _ = try Endpoint(client: context)
    #expect(store.count == 1)
    #expect(try fixture.visited(context).client.info.isResumed)
    #expect(store.count == 1)
  }

  @Test("after the TLS session store has been emptied, no session is resumed")
  func removeAll() throws {
    let fixture = try Fixture()
    let store = TLSSessionStore()
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    _ = try fixture.visited(context)
    store.removeAll()
    #expect(store.count == 0)
    #expect(store.entries.isEmpty)
    #expect(try !fixture.visited(context).client.info.isResumed)
  }

  @Test("TLS contexts with equal configurations share their sessions", arguments: [TLSVersion.v1_2, .v1_3])
  func shared(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let store = TLSSessionStore()
    #expect(try !fixture.visited(TLSContext(client: fixture.trusting, sessions: store)).client.info.isResumed)
    let (client, _) = try fixture.visited(TLSContext(client: fixture.trusting, sessions: store))
    #expect(client.info.isResumed)
    // The server sent no certificate chain. The chain comes from the stored session.
    #expect(client.info.certificateChain.count == 1)
  }

  @Test("a TLS session is never resumed with other settings or on another port")
  func apart() throws {
    let fixture = try Fixture()
    let store = TLSSessionStore()
    let unverified = TLSConfiguration(verification: .none)
    _ = try fixture.visited(TLSContext(client: unverified, sessions: store))
    let refused = try shakeHands(
      Endpoint(client: TLSContext(client: TLSConfiguration(), sessions: store)), Endpoint(server: fixture.server))
    #expect(refused.client?.code == .unknownAuthority)
    var others = [fixture.trusting]
    let client = try fixture.authority.issue(purpose: .client)
    let identity = try TLSIdentity(certificatePEM: client.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let list = Data(try fixture.authority.revocationList()).base64EncodedString(options: .lineLength64Characters)
    let file = try TemporaryFile(Array("-----BEGIN X509 CRL-----\n\(list)\n-----END X509 CRL-----\n".utf8))
    // OpenSSL would let a client with any of these changes resume the session of `fixture.trusting`.
    for change in [
      { $0.identity = identity }, { $0.minimumVersion = .v1_3 }, { $0.maximumVersion = .v1_3 },
      { $0.groups = ["P-256"] }, { $0.cipherList = "ECDHE+AESGCM" },
      { $0.cipherSuites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"] }, { $0.ocspStapling = .checked },
      { $0.trustRoots.append(.system) }, { $0.applicationProtocols = [] }, { $0.revocationListFile = file.path },
    ] as [(inout TLSConfiguration) -> Void] {
      var other = fixture.trusting
      change(&other)
      others.append(other)
    }
    for (index, other) in others.enumerated() {
      let info = try fixture.visited(TLSContext(client: other, sessions: store)).client.info
      #expect(!info.isResumed, "configuration \(index) resumed a session of other settings")
    }
    let context = try TLSContext(client: unverified, sessions: store)
    #expect(try !fixture.visited(context, port: 444).client.info.isResumed)
    // A proxy isn't trusted only because an origin with the same address is trusted.
    #expect(try !fixture.visited(context, isProxy: true).client.info.isResumed)
    #expect(try fixture.visited(context).client.info.isResumed)
    withExtendedLifetime(file) {}
  }

  @Test(
    "a TLS session isn't resumed after its lifetime or after its certificate has expired",
    arguments: [TLSVersion.v1_2, .v1_3],
    [
      // OpenSSL's servers announce a session lifetime of 2 hours.
      (ThrowawayAuthority.Validity.valid, 119, 121), (.endingInAnHour, 59, 61),
    ])
  func outdated(version: TLSVersion, lifespan: (ThrowawayAuthority.Validity, lastMinute: Int, endMinute: Int)) throws {
    let fixture = try Fixture(versions: version...version, validity: lifespan.0)
    let start = time(nil)
    let minutes = Atomic(0)
    let store = TLSSessionStore { start + 60 * minutes.load(ordering: .relaxed) }
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    _ = try fixture.visited(context)
    let count = store.count
    minutes.store(lifespan.lastMinute, ordering: .relaxed)
    #expect(store.entries.count == count)
    #expect(try fixture.visited(context).client.info.isResumed)
    minutes.store(lifespan.endMinute, ordering: .relaxed)
    #expect(store.entries.isEmpty)
    #expect(try !fixture.visited(context).client.info.isResumed)
  }

  @Test("a TLS session isn't resumed after 7 days, even if the server would resume it for longer")
  func longest() throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"])
    // OpenSSL's servers limit the lifetime by themselves with TLS 1.3.
    let server = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM, versions: .v1_2 ... .v1_2,
      sessionSeconds: 20 * 24 * 3600)
    let start = time(nil)
    let hours = Atomic(0)
    let store = TLSSessionStore { start + 3600 * hours.load(ordering: .relaxed) }
    let context = try TLSContext(
      client: TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)]), sessions: store)
    #expect(try shakeHands(Endpoint(client: context), Endpoint(server: server)).client == nil)
    hours.store(7 * 24 - 1, ordering: .relaxed)
    #expect(store.entries.map(\.lifetimeHint) == [.seconds(7 * 24 * 3600)])
    hours.store(7 * 24 + 1, ordering: .relaxed)
    #expect(store.count == 1 && store.entries.isEmpty)
  }

  @Test("the configuration can disable the resumption of TLS sessions", arguments: [TLSVersion.v1_2, .v1_3])
  func switchedOff(version: TLSVersion) throws {
    let fixture = try Fixture(versions: version...version)
    let store = TLSSessionStore()
    var configuration = fixture.trusting
    configuration.resumesSessions = false
    let context = try TLSContext(client: configuration, sessions: store)
    for _ in 0..<2 { #expect(try !fixture.visited(context).client.info.isResumed) }
    #expect(store.count == 0)
  }

  @Test("the TLS session store stays within its limits, and removes the least recently used host first")
  func limits() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let store = TLSSessionStore(hostsMax: 3, sessionsPerHostMax: 1)
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    for port: UInt16 in [1, 2, 3, 1, 4] { _ = try fixture.visited(context, port: port) }
    #expect(store.count == 3)
    #expect(Set(store.entries.map(\.port)) == [3, 1, 4])
  }

  @Test("however many tickets a server sends, the TLS session store contains no more of its sessions than the limit")
  func tickets() throws {
    let fixture = try Fixture(versions: .v1_3 ... .v1_3)
    let store = TLSSessionStore()
    let context = try TLSContext(client: fixture.trusting, sessions: store)
    let (client, server) = try fixture.visited(context)
    for _ in 0..<40 {
      #expect(server.sendTicket())
      client.receive(server.output())
      try client.read()
    }
    #expect(store.count == TLSSessionStore.defaultSessionsPerHostMax)
  }

  @Test("several threads with the same TLS configuration create its context only once")
  func contexts() async throws {
    let fixture = try Fixture()
    let contexts = TLSContexts()
    let made = try await withThrowingTaskGroup(of: TLSContext.self) { group in
      for _ in 0..<8 { group.addTask { try contexts.context(for: fixture.trusting) } }
      return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
    }
    #expect(made.count == 1)
    #expect(try contexts.context(for: TLSConfiguration()) !== contexts.context(for: fixture.trusting))
    #expect(throws: TLSError.self) { try contexts.context(for: TLSConfiguration(trustRoots: [])) }
    for index in 0..<100 {
      _ = try contexts.context(for: TLSConfiguration(verification: .none, serverName: "h\(index)"))
    }
    _ = try fixture.visited(contexts.context(for: fixture.trusting))
    #expect(contexts.sessions.count > 0)
  }

  @Test("the TLS contexts of at most 64 configurations are kept")
  func contextsMax() throws {
    struct Reference {
      weak var context: TLSContext?
    }
    let contexts = TLSContexts()
    var made: [Reference] = []
    for index in 0..<70 {
      let configuration = TLSConfiguration(verification: .none, serverName: "h\(index)")
      made.append(Reference(context: try contexts.context(for: configuration)))
    }
    #expect(made.count { $0.context != nil } == 64)
    #expect(made.last?.context != nil, "the newest one isn't dropped")
  }
}
