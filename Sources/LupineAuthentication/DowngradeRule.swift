// DowngradeRule: refuses a weak challenge of a server that has used a stronger one before, because an attacker on the path may
// have replaced the server's challenge (RFC 7616 §5.8, §5.11).

/// The strongest Digest authentication that the client has used with a server.
package struct AuthenticationHistory: Sendable, Hashable {
  /// The strongest hash function among the server's Digest challenges that the client has answered. Nil if it has answered none.
  package private(set) var function: DigestAlgorithm.Function?
  /// Whether the client has answered a Digest challenge of the server that had a `qop`.
  package private(set) var hasProtection = false

  /// Creates an empty history, for a server whose challenges the client hasn't answered yet.
  package init() {}

  /// Records that the client has answered a Digest challenge of the server.
  package mutating func record(_ challenge: DigestChallenge) {
    function = max(function ?? .md5, challenge.algorithm.function)
    if challenge.protection != .legacy { hasProtection = true }
  }
}

/// The rule that refuses a server's challenge if the server has used stronger authentication before.
package enum DowngradeRule {
  /// The reason why the client refuses a challenge as a downgrade.
  package enum Downgrade: Error, Sendable, Hashable {
    /// The server requests Basic, and thus the password itself, without TLS, although it has used Digest before.
    case basicInClear
    /// The Digest challenge has no `qop`, although an earlier challenge of the server had one.
    case protectionRemoved
    /// The Digest challenge's hash function is weaker than the function `after`, which the server has used before.
    case weakerAlgorithm(DigestAlgorithm.Function, after: DigestAlgorithm.Function)
  }

  /// Returns the reason to refuse a server's challenge as a downgrade, or nil if the client may answer it.
  ///
  /// - Parameters:
  ///   - offer: The server's challenge.
  ///   - history: The Digest authentication that the client has used with the server before.
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
