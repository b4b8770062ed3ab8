// AuthenticationOffer: the challenges of a response that can be answered, strongest first (RFC 9110 §11.6.1, RFC 7616
// §3.7).

package import LupineWire

/// A server's authentication challenge whose scheme the client knows, so that the client can answer it.
package struct AuthenticationOffer: Sendable, Hashable {
  /// The authentication schemes that the client knows, weakest first.
  ///
  /// Basic sends the password itself. Digest and NTLM send a value computed from the password, from which an eavesdropper can guess
  /// a weak password. Negotiate doesn't have this weakness, and the server also proves its identity.
  package enum Scheme: Int, Sendable, Hashable, Comparable {
    case basic, digest, ntlm, negotiate

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// An authentication scheme with the parameters of its challenge.
  package enum Content: Sendable, Hashable {
    case basic
    case digest(DigestChallenge)
    /// NTLM with the token in the server's challenge. The token is nil in the server's first challenge.
    case ntlm(token: [UInt8]?)
    /// Negotiate with the token in the server's challenge. The token is nil in the server's first challenge.
    case negotiate(token: [UInt8]?)
  }

  /// The challenge's realm, or nil if the challenge has none.
  package let realm: String?
  /// The challenge's scheme with its parameters.
  package let content: Content

  /// The scheme of the challenge.
  package var scheme: Scheme {
    switch content {
    case .basic: .basic
    case .digest: .digest
    case .ntlm: .ntlm
    case .negotiate: .negotiate
    }
  }

  /// The parameters of the Digest challenge, or nil if the challenge has another scheme.
  package var digest: DigestChallenge? {
    if case .digest(let challenge) = content { challenge } else { nil }
  }

  /// Creates an offer from a server's challenge. Returns nil if the challenge is malformed, or if the client doesn't know its
  /// scheme.
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

  /// Returns the challenges that the client can answer, strongest first. If several have the same scheme and realm, only the
  /// strongest of them is returned. Equally strong challenges keep their order.
  package static func ranked(_ challenges: [Challenge]) -> [AuthenticationOffer] {
    let offers = challenges.compactMap(Self.init)
    // Comparing positions makes the order stable, which `sorted` doesn't guarantee.
    let ranked = offers.enumerated().sorted { left, right in
      (right.element.strength, left.offset) < (left.element.strength, right.offset)
    }
    var kept: [AuthenticationOffer] = []
    for (_, offer) in ranked where !kept.contains(where: { $0.scheme == offer.scheme && $0.realm == offer.realm }) {
      kept.append(offer)
    }
    return kept
  }

  /// A number for sorting challenges: it is greater for stronger schemes and, within Digest, for stronger hash functions.
  private var strength: Int {
    scheme.rawValue << 8 | (digest?.algorithm.function.rawValue ?? 0)
  }

  /// The token of an NTLM or Negotiate challenge.
  private struct Token {
    let bytes: [UInt8]?

    /// Decodes the challenge's token from Base64. Sets `bytes` to nil if the challenge has no token. Returns nil if the token isn't
    /// Base64.
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
