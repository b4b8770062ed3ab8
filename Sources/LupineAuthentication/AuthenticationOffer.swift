// AuthenticationOffer: the challenges of a response that can be answered, strongest first (RFC 9110 §11.6.1, RFC 7616
// §3.7).

package import LupineWire

/// A challenge of a known scheme.
package struct AuthenticationOffer: Sendable, Hashable {
  /// The known schemes, weakest first: Basic sends the password itself, Digest and NTLM a proof of it, and Negotiate a
  /// proof that no eavesdropper can use to guess a password, which the server answers with a proof of its own.
  package enum Scheme: Int, Sendable, Hashable, Comparable {
    case basic, digest, ntlm, negotiate

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// The scheme's parameters.
  package enum Content: Sendable, Hashable {
    case basic
    case digest(DigestChallenge)
    /// The token, or nil in the first challenge.
    case ntlm(token: [UInt8]?)
    /// The token, or nil in the first challenge.
    case negotiate(token: [UInt8]?)
  }

  /// The realm, or nil if the challenge has none.
  package let realm: String?
  /// The scheme's parameters.
  package let content: Content

  /// The scheme.
  package var scheme: Scheme {
    switch content {
    case .basic: .basic
    case .digest: .digest
    case .ntlm: .ntlm
    case .negotiate: .negotiate
    }
  }

  /// The challenge, if its scheme is Digest.
  package var digest: DigestChallenge? {
    if case .digest(let challenge) = content { challenge } else { nil }
  }

  /// Reads a challenge, or returns nil if its scheme is unknown or it is malformed.
  package init?(_ challenge: Challenge) {
    switch challenge.scheme.lowercased() {
    case "basic": content = .basic
    case "digest":
      guard let digest = try? DigestChallenge(challenge) else { return nil }
      content = .digest(digest)
    case "ntlm":
      guard let token = Token(challenge) else { return nil }
      content = .ntlm(token: token.bytes)
    case "negotiate":
      guard let token = Token(challenge) else { return nil }
      content = .negotiate(token: token.bytes)
    default: return nil
    }
    realm = challenge.realm
  }

  /// Returns the offers among a response's challenges, strongest first, with one offer for each scheme and realm. Equally
  /// strong offers keep their order.
  package static func ranked(_ challenges: [Challenge]) -> [AuthenticationOffer] {
    let offers = challenges.compactMap(Self.init)
    // The position makes the order stable, which `sorted` doesn't promise.
    let ranked = offers.enumerated().sorted { left, right in
      (right.element.strength, left.offset) < (left.element.strength, right.offset)
    }
    var kept: [AuthenticationOffer] = []
    for (_, offer) in ranked where !kept.contains(where: { $0.scheme == offer.scheme && $0.realm == offer.realm }) {
      kept.append(offer)
    }
    return kept
  }

  /// The scheme's rank and, for Digest, that of the hash function.
  private var strength: Int {
    scheme.rawValue << 8 | (digest?.algorithm.function.rawValue ?? 0)
  }

  /// The token of a challenge whose scheme transfers binary messages.
  private struct Token {
    let bytes: [UInt8]?

    /// Returns nil if the token isn't Base64.
    init?(_ challenge: Challenge) {
      guard case .token68(let text) = challenge.content else {
        bytes = nil
        return
      }
      guard let decoded = Base64.decode(text) else { return nil }
      bytes = decoded
    }
  }
}
