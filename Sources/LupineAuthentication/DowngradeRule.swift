// DowngradeRule: refuses weaker authentication from a server that has used a stronger one, because an attacker on the path may
// have replaced its challenge (RFC 7616 §5.8, §5.11).

/// The strongest Digest authentication that a server has used.
package struct AuthenticationHistory: Sendable, Hashable {
  /// The strongest hash function of an answered challenge, or nil if there was no such challenge.
  package private(set) var function: DigestAlgorithm.Function?
  /// Whether an answered challenge had a qop.
  package private(set) var hasProtection = false

  /// Creates the history of a server without answered challenges.
  package init() {}

  /// Records that a challenge was answered.
  package mutating func record(_ challenge: DigestChallenge) {
    function = max(function ?? .md5, challenge.algorithm.function)
    if challenge.protection != .legacy { hasProtection = true }
  }
}

/// Decides which offers a server may still make.
package enum DowngradeRule {
  /// A refused downgrade.
  package enum Downgrade: Error, Sendable, Hashable {
    /// The server has used Digest, and now requests the password itself without TLS.
    case basicInClear
    /// The server's earlier challenges had a qop, and this one has none.
    case protectionRemoved
    /// The server has used a stronger hash function before.
    case weakerAlgorithm(DigestAlgorithm.Function, after: DigestAlgorithm.Function)
  }

  /// Returns the reason to refuse an offer, or nil if it may be answered.
  ///
  /// - Parameters:
  ///   - offer: A challenge of the server.
  ///   - history: The Digest challenges of the server that were answered before.
  ///   - isEncrypted: Whether TLS protects the path to the server, so that no attacker can have replaced the challenge.
  package static func downgrade(
    by offer: AuthenticationOffer, after history: AuthenticationHistory, isEncrypted: Bool
  ) -> Downgrade? {
    guard !isEncrypted, let strongest = history.function else { return nil }
    switch offer.content {
    case .basic: return .basicInClear
    case .digest(let challenge):
      if challenge.protection == .legacy, history.hasProtection { return .protectionRemoved }
      let function = challenge.algorithm.function
      return function < strongest ? .weakerAlgorithm(function, after: strongest) : nil
    case .ntlm, .negotiate: return nil
    }
  }
}
