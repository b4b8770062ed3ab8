// A name and a password, as Foundation's networking half would hold them.

public import Foundation

/// A user's name and password. Two are equal if name, password and persistence are.
public final class URLCredential: NSObject, Sendable {
  /// How long a storage keeps a credential.
  ///
  /// There is no keychain on Linux and nothing is written to disk, so that a storage keeps what it keeps until the process
  /// ends, at the most.
  public enum Persistence: UInt, Sendable {
    /// Not at all: it is for the request that it was made for.
    case none = 0
    /// Until the process ends.
    case forSession = 1
    /// Until the process ends, since there is nowhere to keep it longer.
    case permanent = 2
    /// Until the process ends, since there is nowhere to keep it longer and nothing to share it with.
    @available(*, deprecated, message: "Credentials aren't shared with other devices; use permanent.")
    case synchronizable = 3
  }

  /// The user's name; never nil.
  public let user: String?
  /// The user's password; never nil.
  public let password: String?
  /// How long a storage keeps the credential.
  public let persistence: Persistence

  /// Creates a credential. For the Basic scheme the name can't have a colon (RFC 7617 §2).
  public init(user: String, password: String, persistence: Persistence) {
    self.user = user
    self.password = password
    self.persistence = persistence
  }

  /// Whether there is a password, be it empty.
  public var hasPassword: Bool { password != nil }

  /// The user's name, without the password, since descriptions end up in logs.
  public override var description: String { "URLCredential(user: \(user ?? ""))" }

  /// Whether the other one is a credential with the same name, password and persistence.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLCredential else { return false }
    return user == other.user && password == other.password && persistence == other.persistence
  }

  /// Hashes what `isEqual` compares, but for the password.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(user)
    hasher.combine(persistence)
    return hasher.finalize()
  }
}

extension URLCredential: CustomReflectable {
  /// Without children, since `dump` would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
