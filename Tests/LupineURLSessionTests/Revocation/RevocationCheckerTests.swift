// RevocationCheckerTests: the order of a revocation check's sources, its limits and its memory, with a scripted network.

import Foundation
import LupineEngine
import LupineLoopback
import Synchronization
import Testing

@testable import LupineURLSession

@Suite struct RevocationCheckerTests {
  /// A mock network for revocation checks, whose answers come from a closure. It has a clock, and records the queries.
  private final class Network: Sendable {
    let now = Mutex(1_000)
    let queries = Mutex<[RevocationQuery]>([])
    let seconds = Mutex<[Int]>([])
    let memory: RevocationMemory
    private let answer: @Sendable (RevocationQuery) throws(RevocationProblem) -> [UInt8]

    init(
      countMax: Int = 10, _ answer: @escaping @Sendable (RevocationQuery) throws(RevocationProblem) -> [UInt8]
    ) {
      memory = RevocationMemory(countMax: countMax)
      self.answer = answer
    }

    var checker: RevocationChecker {
      RevocationChecker(memory: memory, clock: { self.now.withLock { $0 } }) {
        query, seconds throws(RevocationProblem) in
        self.queries.withLock { $0.append(query) }
        self.seconds.withLock { $0.append(seconds) }
        return try self.answer(query)
      }
    }

    /// The kinds of the queries so far, such as "ol": `o` for a query to an OCSP responder, `l` for a revocation list.
    var log: String {
      queries.withLock { queries in
        String(
          queries.map { query in
            if case .list = query { "l" } else { "o" }
          })
      }
    }
  }

  private static let down = RevocationProblem("it is down")

  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity
  private let subjects: [RevocationSubject]

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(responders: ["http://127.0.0.1/ocsp"], lists: ["http://127.0.0.1/crl"])
    subjects = RevocationSubject.subjects(ofChain: [try identity.certificateDER, try authority.identity.certificateDER])
  }

  /// Creates a mock network. Its OCSP responder reports `status`, and its revocation list revokes the certificate if `isRevoked`
  /// is true. A source that is nil can't be reached.
  private func network(
    _ status: ThrowawayAuthority.OCSPStatus?, list isRevoked: Bool? = nil, countMax: Int = 10
  ) -> Network {
    Network(countMax: countMax) { [authority, identity] query throws(RevocationProblem) in
      do {
        switch query {
        case .response(_, let request):
          guard let status else { throw Self.down }
          return try authority.ocspResponse(for: identity, status, answering: request)
        case .list:
          guard let isRevoked else { throw Self.down }
          return try authority.revocationList(revoking: isRevoked ? [identity] : [])
        }
      } catch {
        throw Self.down
      }
    }
  }

  private func failure(
    _ network: Network, _ options: RevocationOptions, staple: [UInt8]? = nil
  ) -> RevocationFailure? {
    network.checker.failure(of: subjects, staple: staple, options: options)
  }

  private func isRevoked(_ failure: RevocationFailure?) -> Bool {
    if case .revoked = failure { true } else { false }
  }

  private func isUnconfirmed(_ failure: RevocationFailure?) -> Bool {
    if case .unconfirmed = failure { true } else { false }
  }

  @Test("a good OCSP response confirms the certificate, and is cached until its nextUpdate")
  func good() throws {
    let network = network(.good)
    // The clock is set to the time at which the response is created.
    network.now.withLock { $0 = Int(Date().timeIntervalSince1970) }
    for _ in 0..<3 { #expect(failure(network, [.ocsp, .lists, .requiresAnswer]) == nil) }
    #expect(network.log == "o")
    network.now.withLock { $0 += 3_700 }
    #expect(failure(network, [.ocsp, .lists, .requiresAnswer]) == nil)
    #expect(network.log == "oo")
  }

  @Test("a revoked certificate is refused even if no answer is required, and afterward even without a network")
  func revoked() {
    for options in [[.ocsp], [.ocsp, .requiresAnswer], [.ocsp, .lists, .prefersLists]] as [RevocationOptions] {
      let network = network(.revoked)
      #expect(isRevoked(failure(network, options)))
      #expect(isRevoked(failure(network, options.union(.isOffline))))
    }
    for options in [[.lists], [.ocsp, .lists]] as [RevocationOptions] {
      #expect(isRevoked(failure(network(nil, list: true), options)))
    }
  }

  @Test("a certificate that a stapled response has reported as revoked stays refused, even if a preferred list is good")
  func revokedBefore() throws {
    let revoked = try authority.ocspResponse(for: identity, .revoked)
    for options in [[.ocsp, .lists, .prefersLists], [.ocsp, .lists]] as [RevocationOptions] {
      let network = network(nil, list: false)
      #expect(isRevoked(failure(network, options, staple: revoked)))
      #expect(isRevoked(failure(network, options)))
      // Without OCSP, its statuses don't count.
      #expect(failure(network, [.lists]) == nil)
    }
  }

  @Test("a good stapled response, which may be older, doesn't outweigh a known revocation")
  func olderStaple() throws {
    let good = try authority.ocspResponse(for: identity)
    for options in [[.ocsp], [.ocsp, .lists], [.ocsp, .lists, .prefersLists]] as [RevocationOptions] {
      for network in [network(.revoked), network(nil, list: true)] {
        let isKnown = isRevoked(failure(network, options))
        #expect(isKnown || options == .ocsp)
        for staple in [good, nil, good] { #expect(isRevoked(failure(network, options, staple: staple)) == isKnown) }
      }
    }
  }

  @Test("a certificate is accepted if no revocation source answers, unless an answer is required")
  func noAnswer() {
    for status in [nil, ThrowawayAuthority.OCSPStatus.unknown] {
      #expect(failure(network(status), [.ocsp]) == nil)
      let strict = failure(network(status), [.ocsp, .requiresAnswer])
      #expect(isUnconfirmed(strict))
      #expect(strict?.description.contains("http://127.0.0.1/ocsp: ") == true)
    }
  }

  @Test(
    "a revocation check tries OCSP before the revocation list unless lists are preferred, and falls back to the other",
    arguments: [
      ([.ocsp, .lists], "ol"), ([.ocsp, .lists, .prefersLists], "lo"), ([.ocsp], "o"), ([.lists], "l"),
      ([.ocsp, .prefersLists], "o"), ([.ocsp, .lists, .isOffline], ""),
    ] as [(RevocationOptions, String)])
  func order(options: RevocationOptions, log: String) {
    let network = network(nil)
    #expect(failure(network, options) == nil)
    #expect(network.log == log)
    #expect(isUnconfirmed(failure(network, options.union(.requiresAnswer))))
  }

  @Test("if the OCSP responder is down, a revocation list can confirm the certificate")
  func fallback() {
    #expect(failure(network(nil, list: false), [.ocsp, .lists, .requiresAnswer]) == nil)
    #expect(failure(network(.unknown, list: false), [.ocsp, .lists, .requiresAnswer]) == nil)
  }

  @Test("a stapled OCSP response can confirm or refuse the certificate, and an invalid stapled response is ignored")
  func staples() throws {
    let good = try authority.ocspResponse(for: identity)
    let network = network(nil)
    #expect(failure(network, [.ocsp, .lists, .requiresAnswer], staple: good) == nil)
    #expect(network.log.isEmpty)
    let listing = self.network(.good, list: false)
    #expect(failure(listing, [.ocsp, .lists, .prefersLists], staple: good) == nil)
    #expect(listing.log == "l")

    let revoked = try authority.ocspResponse(for: identity, .revoked)
    #expect(isRevoked(failure(self.network(.good, list: false), [.ocsp, .lists, .prefersLists], staple: revoked)))
    #expect(failure(self.network(.good), [.lists], staple: revoked) == nil)

    let other = try authority.issue(commonName: "Another")
    let old = try authority.ocspResponse(for: identity, thisUpdate: -7_200, nextUpdate: -3_600)
    for bad in [[], [1, 2], try authority.ocspResponse(for: other, .revoked), old] {
      let network = self.network(.good)
      #expect(failure(network, [.ocsp, .requiresAnswer], staple: bad) == nil)
      #expect(network.log == "o")
    }
  }

  @Test("a must-staple certificate is refused without a good stapled OCSP response")
  func mustStaple() throws {
    let strict = try authority.issue(mustStaple: true, responders: ["http://127.0.0.1/ocsp"])
    let subjects = RevocationSubject.subjects(
      ofChain: [try strict.certificateDER, try authority.identity.certificateDER])
    func failure(_ staple: [UInt8]?, _ options: RevocationOptions) -> RevocationFailure? {
      network(.good).checker.failure(of: subjects, staple: staple, options: options)
    }
    #expect(isUnconfirmed(failure(nil, [.ocsp])))
    #expect(isUnconfirmed(failure([1], [.ocsp])))
    #expect(failure(try authority.ocspResponse(for: strict), [.ocsp, .requiresAnswer]) == nil)
    #expect(failure(nil, [.lists]) == nil)
  }

  @Test("a revocation check also checks the intermediate certificates")
  func intermediates() throws {
    let intermediate = try authority.issueAuthority(lists: ["http://127.0.0.1/crl"])
    let leaf = try intermediate.issue()
    let subjects = RevocationSubject.subjects(
      ofChain: try [leaf, intermediate.identity, authority.identity].map { try $0.certificateDER })
    let list = try authority.revocationList(revoking: [intermediate.identity])
    let network = Network { _ throws(RevocationProblem) in list }
    #expect(isRevoked(network.checker.failure(of: subjects, staple: nil, options: .lists)))
  }

  @Test("an OCSP response to another request, with another nonce, doesn't confirm the certificate")
  func replayed() throws {
    let recorded = try authority.ocspResponse(for: identity, answering: subjects[0].ocspRequest())
    let network = Network { _ throws(RevocationProblem) in recorded }
    let failure = failure(network, [.ocsp, .requiresAnswer])
    #expect(isUnconfirmed(failure))
    #expect(failure?.description.contains("nonce") == true)
  }

  @Test("a revocation check starts no fetch after its time limit, and each fetch may take only the remaining time")
  func timeLimit() throws {
    let urls = (1...4).map { "http://127.0.0.1/\($0)" }
    let many = try authority.issue(responders: Array(urls[..<2]), lists: Array(urls[2...]))
    // The certificates of a chain share the time limit.
    let intermediate = try authority.issueAuthority(responders: Array(urls[1..<3]), lists: Array(urls[3...]))
    let leaf = try intermediate.issue(responders: Array(urls[..<1]))
    for (chain, options) in [
      ([many, authority.identity], [.ocsp, .lists, .requiresAnswer]),
      ([leaf, intermediate.identity, authority.identity], [.ocsp, .lists]),
    ] as [([ThrowawayAuthority.Identity], RevocationOptions)] {
      let subjects = RevocationSubject.subjects(ofChain: try chain.map { try $0.certificateDER })
      let network = self.network(nil)
      let checker = RevocationChecker(memory: network.memory, clock: network.checker.clock) {
        query, seconds throws(RevocationProblem) in
        network.now.withLock { $0 += 4 }
        return try network.checker.fetch(query, seconds)
      }
      let failure = checker.failure(of: subjects, staple: nil, options: options)
      #expect(isUnconfirmed(failure) == options.contains(.requiresAnswer))
      #expect(network.seconds.withLock { $0 } == [5, 5, 2])
    }
  }

  @Test("revocation checks skip an OCSP responder that has failed, for 30 s or until it responds")
  func silence() throws {
    var servers = SilentServers()
    let server = try URI("http://ocsp.example/").origin
    let error = EngineError(.timedOut, .connect, server)
    let start = Instant(nanoseconds: 1)
    #expect(servers.problem(of: server, now: start) == nil)
    servers.note(.failure(error), of: server, now: start)
    #expect(servers.problem(of: server, now: start + .seconds(29)) != nil)
    #expect(servers.problem(of: try URI("http://ocsp.example:81/").origin, now: start) == nil)
    #expect(servers.problem(of: server, now: start + .seconds(30)) == nil)
    servers.note(.failure(error), of: server, now: start)
    servers.note(.response(status: 500, []), of: server, now: start)
    #expect(servers.problem(of: server, now: start) == nil)
  }

  @Test("the revocation checker remembers at most 256 unresponsive OCSP responders")
  func silenceLimit() throws {
    var servers = SilentServers()
    let start = Instant(nanoseconds: 1)
    let origins = try (0...RevocationLimits.silentServersMax).map { try URI("http://\($0).example/").origin }
    for origin in origins { servers.note(.failure(EngineError(.timedOut, .connect, origin)), of: origin, now: start) }
    let known = origins.filter { servers.problem(of: $0, now: start) != nil }
    #expect(known == [origins[RevocationLimits.silentServersMax]])
  }

  @Test("a full revocation cache removes the answer that expires first, but removes other answers before revocations")
  func memory() throws {
    #expect(RevocationMemory.shared.countMax == 1_000)
    let memory = RevocationMemory(countMax: 2)
    let subjects = try (0..<3).map { _ in
      try #require(
        RevocationSubject.subjects(
          ofChain: [try authority.issue().certificateDER, try authority.identity.certificateDER]
        ).first)
    }
    memory.remember(.revoked("no"), of: subjects[0], by: .ocsp, now: 0)
    memory.remember(.good(until: 10), of: subjects[0], by: .ocsp, now: 0)
    memory.remember(.good(until: 50), of: subjects[1], by: .ocsp, now: 0)
    memory.remember(.good(until: 100), of: subjects[2], by: .ocsp, now: 0)
    #expect(memory.count == 2)
    #expect(memory.status(of: subjects[0], by: .ocsp, now: 1) == .revoked("no"))
    #expect(memory.status(of: subjects[1], by: .ocsp, now: 1) == nil)
    #expect(memory.status(of: subjects[2], by: .ocsp, now: 1) == .good(until: 100))
    #expect(memory.status(of: subjects[2], by: .list, now: 1) == nil)
    #expect(memory.status(of: subjects[2], by: .ocsp, now: 100) == nil)
    memory.remember(.good(until: nil), of: subjects[1], by: .ocsp, now: 0)
    #expect(memory.status(of: subjects[1], by: .ocsp, now: 0) == nil)
  }
}
