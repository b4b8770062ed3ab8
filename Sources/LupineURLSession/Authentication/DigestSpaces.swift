// DigestSpaces: a session's Digest authentications by origin, realm and credential, and the authentication that each origin has
// used before (RFC 7616 §3.6). The owner guards it with a lock and supplies the nonces.

import LupineAuthentication
import LupineEngine

/// The Digest authentications of one ``URLSession``.
struct DigestSpaces: Sendable {
  /// The origin, realm and credential of an authentication. Requests with different credentials never share an authentication.
  struct Key: Sendable, Hashable {
    let origin: Origin
    let realm: String
    let credential: PasswordCredential
  }

  /// One request's use of an authentication.
  struct Use: Sendable {
    let key: Key
    let proof: DigestProof
  }

  /// The part of a request that a proof covers.
  struct CoveredRequest: Sendable {
    let method: String
    let uri: URI
    /// A random text.
    let clientNonce: String
    /// Returns the hash of the content, or nil if the content isn't known in advance.
    let contentHash: @Sendable (MessageDigest) -> [UInt8]?
  }

  /// The maximum number of authentications: 256. Beyond it, the least recently used one is
  /// dropped, and its next request is challenged again.
  static let authenticationsMax = 256
  /// The maximum number of origins whose history is kept: 1,024. Beyond it, the history
  /// of the least recently used origin is dropped.
  static let originsMax = 1_024

  private struct Authentication {
    var session: DigestSession
    var lastUse: Int
  }

  private struct OriginHistory {
    var history = AuthenticationHistory()
    var lastUse: Int
  }

  private var authentications: [Key: Authentication] = [:]
  private var histories: [Origin: OriginHistory] = [:]
  private var useCount = 0

  /// Returns the offers that may be answered, strongest first. Downgrades are omitted.
  func offers(in challenges: [Challenge], from origin: Origin) -> [AuthenticationOffer] {
    let history = histories[origin]?.history ?? AuthenticationHistory()
    // An attacker on the path can't replace a challenge over TLS or on a Unix socket.
    let isProtected = origin.scheme == .https || origin.socketPath != nil
    return AuthenticationOffer.ranked(challenges).filter {
      DowngradeRule.downgrade(by: $0, after: history, isEncrypted: isProtected) == nil
    }
  }

  /// Answers an origin's challenge.
  mutating func answer(
    _ challenge: DigestChallenge, with credential: PasswordCredential, to request: CoveredRequest
  ) throws(DigestSession.Failure) -> Use {
    let key = Key(origin: request.uri.origin, realm: challenge.realm, credential: credential)
    var session: DigestSession
    if let known = authentications[key]?.session {
      session = known
      if !session.renew(with: challenge) { session = try DigestSession(challenge, credential: credential) }
    } else {
      session = try DigestSession(challenge, credential: credential)
    }
    let use = Use(key: key, proof: try session.proof(for: request))
    keep(session, for: key)
    record(challenge, of: key.origin)
    return use
  }

  /// Returns a proof for a request that hasn't been challenged. Returns nil if the request's URI isn't in the authentication's
  /// protection space, or if the authentication was dropped.
  mutating func proof(with key: Key, for request: CoveredRequest) -> Use? {
    guard var session = authentications[key]?.session, session.covers(request.uri, at: key.origin),
      let proof = try? session.proof(for: request)
    else { return nil }
    keep(session, for: key)
    return Use(key: key, proof: proof)
  }

  /// Returns the keys of the authentications whose protection space contains a URI, most recently used first. The spaces of
  /// several realms may contain it.
  func keys(covering uri: URI) -> [Key] {
    authentications.filter { $0.key.origin == uri.origin && $0.value.session.covers(uri, at: $0.key.origin) }
      .sorted { $0.value.lastUse > $1.value.lastUse }.map(\.key)
  }

  /// Verifies the origin's Authentication-Info for a request, and stores its next nonce. If the origin doesn't know the password,
  /// the authentication is dropped.
  mutating func verify(_ information: DigestInformation, for use: Use) -> DigestProof.Verdict {
    // The head arrives before the content, so a proof of the content can't be verified.
    let verdict = use.proof.verify(information) { nil }
    guard verdict != .forged else {
      authentications[use.key] = nil
      return .forged
    }
    if let nextNonce = information.nextNonce {
      authentications[use.key]?.session.adopt(nextNonce, announcedFor: use.proof)
    }
    return verdict
  }

  /// Drops an authentication whose credential was refused.
  mutating func drop(_ key: Key) { authentications[key] = nil }

  private mutating func keep(_ session: DigestSession, for key: Key) {
    useCount += 1
    authentications[key] = Authentication(session: session, lastUse: useCount)
    if authentications.count > Self.authenticationsMax,
      let oldest = authentications.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      authentications[oldest.key] = nil
    }
  }

  private mutating func record(_ challenge: DigestChallenge, of origin: Origin) {
    histories[origin, default: OriginHistory(lastUse: useCount)].history.record(challenge)
    histories[origin]?.lastUse = useCount
    if histories.count > Self.originsMax, let oldest = histories.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      histories[oldest.key] = nil
    }
  }
}

extension DigestSession {
  fileprivate mutating func proof(for request: DigestSpaces.CoveredRequest) throws(Failure) -> DigestProof {
    try proof(
      method: request.method, target: request.uri.target, clientNonce: request.clientNonce,
      contentHash: request.contentHash)
  }

  /// Returns whether a URI is in the protection space: it belongs to the origin and, if the challenge has a domain, starts with
  /// one of the domain's URIs (RFC 7616 §3.3). URIs of other origins are excluded, because the credential is for this origin.
  fileprivate func covers(_ uri: URI, at origin: Origin) -> Bool {
    guard uri.origin == origin else { return false }
    guard !challenge.domain.isEmpty else { return true }
    let root = URI(origin)
    return challenge.domain.contains { reference in
      guard let prefix = try? root.resolving(reference), prefix.origin == origin else { return false }
      return uri.target.utf8.starts(with: prefix.target.utf8)
    }
  }
}
