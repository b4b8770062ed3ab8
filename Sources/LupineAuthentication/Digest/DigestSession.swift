// DigestSession: answers the Digest challenges of one realm with one credential, and keeps the nonce counts (RFC 7616 §3.4).

package import LupineTLS
import LupineWire

/// Computes the Digest credentials of the requests to one realm of an origin or proxy, with the server's current nonce.
///
/// The session is a value type. Its owner must guard it with a lock, so that concurrent requests never use the same nonce count.
package struct DigestSession: Sendable {
  /// The reason why Digest credentials can't be computed.
  package enum Failure: Error, Sendable, Hashable {
    /// The server accepts only `auth-int`, but the request's content can't be hashed before it is sent.
    case contentIsUnknown
    /// OpenSSL's configuration forbids the hash function of the Digest algorithm.
    case hashIsUnavailable
    /// The nonce has been used 2³²−1 times, the maximum of its count of eight hexadecimal digits (`nc`). The client needs a new
    /// challenge.
    case nonceIsExhausted
  }

  /// The latest challenge of the server: the one that started the session, or the one last passed to `renew(with:)`.
  package private(set) var challenge: DigestChallenge
  private let user: String
  /// H(user ":" realm ":" password), the only form in which the password is stored. The password can't be derived from this hash,
  /// but the hash is sufficient to authenticate in the realm.
  private let secret: String
  private let hashedUser: String
  private var nonce: String
  private var nonceCount: UInt32 = 0
  /// Earlier nonces of the server with their nonce counts (`nc`), oldest first. If the server sends one of these nonces in a
  /// challenge again, counting continues, because no nonce count may be used twice.
  private var earlier: [(nonce: String, count: UInt32)] = []
  /// The client nonce and the key of a `-sess` algorithm, or nil before the first request. The first request determines both, and
  /// the key is computed only once (RFC 7616 §3.4.2).
  private var sessionKey: SessionKey?

  private struct SessionKey: Sendable {
    let clientNonce: String
    let key: String
  }

  /// The maximum number of earlier nonces whose nonce counts are stored: 16, more than the usual number of concurrent requests.
  static let earlierNoncesMax = 16

  /// Creates a session that answers `challenge` with `credential`. Throws `.hashIsUnavailable` if OpenSSL's configuration forbids
  /// the hash function.
  package init(_ challenge: DigestChallenge, credential: PasswordCredential) throws(Failure) {
    self.challenge = challenge
    user = credential.user
    nonce = challenge.nonce
    let digest = challenge.algorithm.function.digest
    secret = try digest.hex("\(credential.user):\(challenge.realm):\(credential.password)")
    hashedUser = try digest.hex("\(credential.user):\(challenge.realm)")
  }

  /// Continues the session with a later challenge of the same realm and algorithm. Returns false and has no effect if the challenge
  /// has another realm or algorithm.
  package mutating func renew(with newer: DigestChallenge) -> Bool {
    guard newer.realm == challenge.realm, newer.algorithm == challenge.algorithm else { return false }
    challenge = newer
    replaceNonce(by: newer.nonce)
    // A new challenge begins a new authentication session (§3.6).
    sessionKey = nil
    return true
  }

  /// Stores the `nextnonce` from the response to the request that was sent with `proof` (RFC 7616 §3.5). Has no effect if another
  /// response has already replaced the nonce of `proof`, or if `nextNonce` is longer than `DigestChallenge.valueBytesMax`.
  package mutating func adopt(_ nextNonce: String, announcedFor proof: DigestProof) {
    guard proof.nonce == nonce, nextNonce.utf8.count <= DigestChallenge.valueBytesMax else { return }
    replaceNonce(by: nextNonce)
  }

  private mutating func replaceNonce(by newer: String) {
    guard newer != nonce else { return }
    earlier.append((nonce, nonceCount))
    nonceCount = earlier.firstIndex { $0.nonce == newer }.map { earlier.remove(at: $0).count } ?? 0
    nonce = newer
    if earlier.count > Self.earlierNoncesMax { earlier.removeFirst() }
  }

  /// Returns the Digest credentials for one request, and increments the nonce count.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - target: The request target without scheme and authority, or host and port for CONNECT.
  ///   - clientNonce: The client nonce (cnonce) for this request: at least 64 random bits, as text.
  ///   - contentHash: A closure that returns the hash of the request's content, or nil if the content isn't known in advance.
  ///     Called only if the server accepts only `auth-int`.
  package mutating func proof(
    method: String, target: String, clientNonce: String, contentHash: (MessageDigest) -> [UInt8]?
  ) throws(Failure) -> DigestProof {
    guard nonceCount < .max else { throw .nonceIsExhausted }
    let digest = challenge.algorithm.function.digest
    var requestText = "\(method):\(target)"
    if challenge.protection == .content {
      guard let hash = contentHash(digest) else { throw .contentIsUnknown }
      requestText += ":\(hex(hash))"
    }
    let (key, clientNonce) = try key(clientNonce)
    nonceCount += 1
    var proof = DigestProof(
      digest: digest, key: key, nonce: nonce, count: nonceCount.hexDigits(), clientNonce: clientNonce,
      protection: challenge.protection, target: target)
    proof.fieldValue = fieldValue(of: proof, response: try proof.response(to: requestText))
    return proof
  }

  // A1 = unq(username) ":" unq(realm) ":" passwd; with -sess: H( A1 ) ":" unq(nonce-prime) ":" unq(cnonce-prime)
  /// Returns H(A1), the key, and the client nonce to send. In a `-sess` session, both are those of the first request. A new client
  /// nonce would give a wrong key on servers that derive the key again for each request.
  private mutating func key(_ clientNonce: String) throws(Failure) -> (key: String, clientNonce: String) {
    guard challenge.algorithm.isSession else { return (secret, clientNonce) }
    if let sessionKey { return (sessionKey.key, sessionKey.clientNonce) }
    let key = try challenge.algorithm.function.digest.hex("\(secret):\(nonce):\(clientNonce)")
    sessionKey = SessionKey(clientNonce: clientNonce, key: key)
    return (key, clientNonce)
  }

  // credentials = "Digest" 1*SP #auth-param (§3.4). Only the parameters for which §3.4 requires it are quoted.
  private func fieldValue(of proof: DigestProof, response: String) -> String {
    var parameters: [String] = [
      userParameter, "realm=\(quotedString(challenge.realm))", "uri=\(quotedString(proof.target))",
    ]
    if challenge.namesAlgorithm { parameters.append("algorithm=\(challenge.algorithm.token)") }
    parameters.append("nonce=\(quotedString(nonce))")
    if let qop = challenge.protection.token {
      parameters += ["nc=\(proof.count)", "cnonce=\(quotedString(proof.clientNonce))", "qop=\(qop)"]
    }
    parameters.append("response=\"\(response)\"")
    if let opaque = challenge.opaque { parameters.append("opaque=\(quotedString(opaque))") }
    if challenge.hashesUser { parameters.append("userhash=true") }
    return "Digest " + parameters.joined(separator: ", ")
  }

  /// The `username` or `username*` parameter of the credentials (RFC 7616 §3.4.4).
  ///
  /// If the server requests a hash of the user name, the value is that hash. If the name has control characters, or if it isn't
  /// ASCII and the server supports UTF-8, the parameter is `username*`, encoded as in RFC 8187. Otherwise, the value is a quoted
  /// string, which servers that only know RFC 2617 understand too.
  private var userParameter: String {
    if challenge.hashesUser { return "username=\"\(hashedUser)\"" }
    let hasControls = user.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    let isASCII = user.utf8.allSatisfy { $0 < 0x80 }
    if hasControls || (!isASCII && challenge.expectsUTF8) {
      return "username*=UTF-8''" + PercentEncoding.encode(user.utf8, keeping: .attribute)
    }
    return "username=\(quotedString(user))"
  }

}

extension DigestSession: CustomStringConvertible, CustomReflectable {
  /// A text for logs that contains the realm and the Digest algorithm, but no secrets.
  package var description: String { "DigestSession(realm: \(challenge.realm), \(challenge.algorithm.token))" }
  /// A mirror without children, so that `dump` doesn't print the keys.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension DigestChallenge.Protection {
  /// The value of the `qop` parameter: "auth" or "auth-int". Nil if the client's credentials have no `qop`.
  var token: String? {
    switch self {
    case .legacy: nil
    case .method: "auth"
    case .content: "auth-int"
    }
  }
}
