// DigestSpaces: a session's Digest authentications by server, realm and credential, the strongest Digest that each server has used
// (RFC 7616 §3.6), and the proxies that have used NTLM. It performs no I/O: its owner guards it with a lock, and passes the client
// nonces.

import LupineAuthentication
import LupineEngine

/// The Digest authentications of one session, with the protection spaces in which later requests use them.
struct DigestSpaces: ~Copyable, Sendable {
  /// The Digest credentials for one request, and the login that computed them.
  struct Use: Sendable {
    let login: Login
    let proof: DigestProof
    /// The number of the authentication, which no other authentication of the session has.
    let number: UInt64
  }

  /// The parts of a request from which its Digest response is computed.
  struct CoveredRequest: Sendable {
    /// The origin or the proxy that receives the Digest credentials.
    let party: AuthenticationParty
    let method: String
    /// The request target in the form in which the origin or the proxy receives it.
    let target: String
    /// The random client nonce (`cnonce`) of the Digest credentials.
    let clientNonce: String
    /// Returns the hash of the request's content, or nil if the content isn't known in advance.
    let contentHash: @Sendable (MessageDigest) -> [UInt8]?
  }

  /// The maximum number of Digest authentications per session: 256. Beyond this limit, the least recently used one is dropped. The
  /// server then challenges the next request in its protection space again.
  static let authenticationsMax = 256
  /// The maximum number of origins and proxies whose authentication history is stored: 1,024. Beyond this limit, the least recently
  /// used history is dropped.
  static let partiesMax = 1_024

  private struct Authentication {
    var session: DigestSession
    var lastUse: Int
    let number: UInt64
  }

  private struct PartyHistory {
    var history = AuthenticationHistory()
    var lastUse: Int
  }

  /// The authentications by login. Requests with different credentials never share an authentication.
  private var authentications: [Login: Authentication] = [:]
  /// The histories of the servers that have used Digest, and of the proxies that have used NTLM.
  private var histories: [AuthenticationParty: PartyHistory] = [:]
  private var useCount = 0
  private var lastNumber: UInt64 = 0

  /// Returns the challenges of a response that the client may answer, strongest first. If the connection to `party` isn't protected
  /// by TLS or a Unix socket, omits challenges that are weaker than those that `party` used before.
  func offers(in challenges: [Challenge], from party: AuthenticationParty) -> [AuthenticationOffer] {
    let history = histories[party]?.history ?? AuthenticationHistory()
    return AuthenticationOffer.ranked(challenges).filter {
      DowngradeRule.downgrade(by: $0, after: history, isEncrypted: party.isProtected) == nil
    }
  }

  /// Answers a Digest challenge, stores the authentication for later requests, and returns the Digest credentials for `request`.
  mutating func answer(
    _ challenge: DigestChallenge, with credential: PasswordCredential, to request: CoveredRequest
  ) throws(DigestSession.Failure) -> Use {
    let login = Login(party: request.party, scheme: .digest, realm: challenge.realm, credential: credential)
    var session = try self.session(challenge, for: login)
    let proof = try session.proof(for: request)
    let number = keep(session, for: login)
    record(challenge, of: login.party)
    return Use(login: login, proof: proof, number: number)
  }

  /// Starts the Digest authentication of `login` with a server's challenge, or renews it. Afterward, `proof(with:for:)` returns
  /// credentials for requests. Returns false if OpenSSL's configuration forbids the hash function.
  mutating func begin(_ challenge: DigestChallenge, for login: Login) -> Bool {
    guard let session = try? session(challenge, for: login) else { return false }
    keep(session, for: login)
    record(challenge, of: login.party)
    return true
  }

  private func session(_ challenge: DigestChallenge, for login: Login) throws(DigestSession.Failure) -> DigestSession {
    if var known = authentications[login]?.session, known.renew(with: challenge) { return known }
    return try DigestSession(challenge, credential: login.credential)
  }

  /// Records that the client has answered an NTLM challenge of the proxy `party`.
  mutating func noteNTLM(of party: AuthenticationParty) {
    useCount += 1
    record(nil, of: party)
    histories[party]?.lastUse = useCount
  }

  /// Returns whether the client must not send the password in the proxy's URL itself to the proxy `party`, because the proxy has
  /// used Digest or NTLM, and isn't protected by TLS.
  func forbidsPassword(to party: AuthenticationParty) -> Bool { !party.isProtected && histories[party] != nil }

  /// Returns Digest credentials to send with a request before the server challenges it. Returns nil if the request's target is
  /// outside the authentication's protection space, or if the authentication was dropped.
  mutating func proof(with login: Login, for request: CoveredRequest) -> Use? {
    guard var session = authentications[login]?.session, request.party == login.party,
      session.covers(request.target, at: login.party),
      let proof = try? session.proof(for: request)
    else { return nil }
    return Use(login: login, proof: proof, number: keep(session, for: login))
  }

  /// Returns the logins of the Digest authentications whose protection space contains `uri`, most recently used first. There may be
  /// several, because the protection spaces of different realms may overlap.
  func logins(covering uri: URI) -> [Login] {
    let party = AuthenticationParty.origin(uri.origin)
    return authentications.filter { $0.key.party == party && $0.value.session.covers(uri.target, at: party) }
      .sorted { $0.value.lastUse > $1.value.lastUse }.map(\.key)
  }

  /// Verifies the Authentication-Info in the response to a request with the Digest credentials `use`, and stores its `nextnonce`.
  /// If the verdict is `.forged`, drops the authentication.
  mutating func verify(_ information: DigestInformation, for use: Use) -> DigestProof.Verdict {
    // The content hasn't arrived yet, so an `rspauth` that covers the content can't be verified.
    let verdict = use.proof.verify(information) { nil }
    guard verdict != .forged else {
      authentications[use.login] = nil
      return .forged
    }
    if let nextNonce = information.nextNonce {
      authentications[use.login]?.session.adopt(nextNonce, announcedFor: use.proof)
    }
    return verdict
  }

  /// Drops the Digest authentication of `login`, because the server has refused its credential.
  mutating func drop(_ login: Login) { authentications[login] = nil }

  /// Removes all authentications and the servers' histories. Later authentications get new numbers.
  mutating func removeAll() { (authentications, histories) = ([:], [:]) }

  /// Stores an authentication for later requests, and returns its number.
  @discardableResult
  private mutating func keep(_ session: DigestSession, for login: Login) -> UInt64 {
    useCount += 1
    if authentications[login] == nil { lastNumber += 1 }
    let number = authentications[login]?.number ?? lastNumber
    authentications[login] = Authentication(session: session, lastUse: useCount, number: number)
    histories[login.party]?.lastUse = useCount
    if authentications.count > Self.authenticationsMax,
      let oldest = authentications.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      authentications[oldest.key] = nil
    }
    return number
  }

  private mutating func record(_ challenge: DigestChallenge?, of party: AuthenticationParty) {
    var history = histories[party] ?? PartyHistory(lastUse: useCount)
    if let challenge { history.history.record(challenge) }
    histories[party] = history
    if histories.count > Self.partiesMax, let oldest = histories.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      histories[oldest.key] = nil
    }
  }
}

extension DigestSession {
  fileprivate mutating func proof(for request: DigestSpaces.CoveredRequest) throws(Failure) -> DigestProof {
    try proof(
      method: request.method, target: request.target, clientNonce: request.clientNonce,
      contentHash: request.contentHash)
  }

  /// Returns whether a request target is in the protection space of this Digest authentication (RFC 7616 §3.3).
  ///
  /// If the challenge has `domain`, one of its URIs must be a prefix of the target. URIs of other origins are ignored, because the
  /// credential is only for this origin. A proxy's protection space contains all requests to the proxy.
  fileprivate func covers(_ target: String, at party: AuthenticationParty) -> Bool {
    guard case .origin(let origin) = party, !challenge.domain.isEmpty else { return true }
    let root = URI(origin)
    return challenge.domain.contains { reference in
      guard let prefix = try? root.resolving(reference), prefix.origin == origin else { return false }
      return target.utf8.starts(with: prefix.target.utf8)
    }
  }
}
