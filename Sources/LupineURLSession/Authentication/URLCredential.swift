// URLCredential: a user name with a password.

public import Foundation

/// A user name with a password. Two credentials are equal if their user names, passwords and persistences are equal.
public final class URLCredential: NSObject, Sendable {
  /// The time for which a ``URLCredentialStorage`` keeps a credential.
  ///
  /// Linux has no keychain and nothing is written to disk, so no credential outlives the process.
  public enum Persistence: UInt, Sendable {
    /// The credential is for one request and isn't stored.
    case none = 0
    /// The credential is stored until the process ends.
    case forSession = 1
    /// The credential is stored until the process ends, like `forSession`.
    case permanent = 2
    /// The credential is stored until the process ends, and isn't shared with other devices.
    @available(*, deprecated, message: "Credentials aren't shared with other devices; use permanent.")
    case synchronizable = 3
  }

  /// The user name. Never nil.
  public let user: String?
  /// The password. Never nil.
  public let password: String?
  /// The time for which a storage keeps the credential.
  public let persistence: Persistence

  /// Creates a credential. With the Basic scheme, a user name with a colon can't be sent (RFC 7617 §2).
  public init(user: String, password: String, persistence: Persistence) {
    self.user = user
    self.password = password
    self.persistence = persistence
  }

  /// Whether there is a password. It may be empty.
  public var hasPassword: Bool { password != nil }

  /// The user name, without the password, because descriptions appear in logs.
  public override var description: String { "URLCredential(user: \(user ?? ""))" }

  /// Returns whether the object is a credential with the same user name, password and persistence.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLCredential else { return false }
    return user == other.user && password == other.password && persistence == other.persistence
  }

  /// A hash of the user name and the persistence, without the password.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(user)
    hasher.combine(persistence)
    return hasher.finalize()
  }
}

extension URLCredential: CustomReflectable {
  /// A mirror without children, because `dump` would print the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
