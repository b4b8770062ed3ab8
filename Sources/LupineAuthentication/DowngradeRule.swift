// DowngradeRule: refuses a weak challenge of a server that has used a stronger one before, because an attacker on the path may
// have replaced the server's challenge (RFC 7616 §5.8, §5.11).

/// The strongest Digest authentication that a server has used.
package struct AuthenticationHistory: Sendable, Hashable {
  /// The strongest hash function of the challenges that the client answered, or nil if it answered none.
  package private(set) var function: DigestAlgorithm.Function?
  /// Whether a challenge that the client answered had a qop.
  package private(set) var hasProtection = false

  /// Creates the history of a server whose challenges haven't been answered yet.
  package init() {}

  /// Records that the client has answered a Digest challenge of the server.
  package mutating func record(_ challenge: DigestChallenge) {
    function = max(function ?? .md5, challenge.algorithm.function)
    if challenge.protection != .legacy { hasProtection = true }
  }
}

/// Refuses a challenge if the same server has used a stronger one before.
package enum DowngradeRule {
  /// The reason why a challenge is refused.
  package enum Downgrade: Error, Sendable, Hashable {
    /// The server has used Digest, and now requests the password itself without TLS.
    case basicInClear
    /// The server's earlier challenges had a qop, but this challenge has none.
    case protectionRemoved
    /// The challenge's hash function is weaker than the function `after`, which the server has used before.
    case weakerAlgorithm(DigestAlgorithm.Function, after: DigestAlgorithm.Function)
  }

  /// Returns the reason to refuse a challenge, or nil if the client may answer it.
  ///
  /// - Parameters:
  ///   - offer: The server's challenge.
  ///   - history: The Digest challenges of the server that were answered before.
  ///   - isEncrypted: Whether the connection to the server is safe from attackers. If it isn't, an attacker may have replaced the
  ///     challenge.
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
