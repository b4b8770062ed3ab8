// URLCredential: a user name and a password.

public import Foundation

/// A user name and a password. Two credentials are equal if name, password and persistence are equal.
public final class URLCredential: NSObject, Sendable {
  /// How long a storage keeps a credential.
  ///
  /// Nothing is written to disk, because Linux has no keychain; a storage keeps credentials until the process ends at most.
  public enum Persistence: UInt, Sendable {
    /// The storage doesn't keep the credential; it is for one request.
    case none = 0
    /// The storage keeps the credential until the process ends.
    case forSession = 1
    /// The storage keeps the credential until the process ends, because there is no keychain.
    case permanent = 2
    /// The storage keeps the credential until the process ends, because there is no keychain to share it.
    @available(*, deprecated, message: "Credentials aren't shared with other devices; use permanent.")
    case synchronizable = 3
  }

  /// The user name; never nil.
  public let user: String?
  /// The password; never nil.
  public let password: String?
  /// How long a storage keeps the credential.
  public let persistence: Persistence

  /// Creates a credential. For the Basic scheme, the name must not contain a colon (RFC 7617 §2).
  public init(user: String, password: String, persistence: Persistence) {
    self.user = user
    self.password = password
    self.persistence = persistence
  }

  /// Whether there is a password, which may be empty.
  public var hasPassword: Bool { password != nil }

  /// The user name, without the password, because descriptions are logged.
  public override var description: String { "URLCredential(user: \(user ?? ""))" }

  /// Returns whether the object is a credential with the same name, password and persistence.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLCredential else { return false }
    return user == other.user && password == other.password && persistence == other.persistence
  }

  /// A hash of the properties that `isEqual` compares, without the password.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(user)
    hasher.combine(persistence)
    return hasher.finalize()
  }
}

extension URLCredential: CustomReflectable {
  /// Has no children, because `dump` would print the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
