// Where sessions look for credentials: by protection space and user, in memory.

public import Foundation
import Synchronization

/// Credentials that sessions and applications share; it may be used from any thread.
///
/// They are kept in memory until the process ends, `permanent` ones too, as there is no keychain on Linux. What is to be
/// kept longer has to be set again at the next start. One whose persistence is `none` isn't kept at all.
public final class URLCredentialStorage: NSObject, Sendable {
  private struct Space {
    var credentials: [String: URLCredential] = [:]
    var defaultUser: String?
  }

  /// The storage of the default configurations.
  public static let shared = URLCredentialStorage()

  private let spaces = Mutex<[URLProtectionSpace: Space]>([:])

  /// An empty storage of its own, which Foundation has no way to make.
  public override init() {
    super.init()
  }

  /// How many credentials there are; none of them is shown.
  public override var description: String {
    let counts = spaces.withLock { $0.values.map(\.credentials.count) }
    let credentials = ReadableText.count(counts.reduce(0, +), "credential")
    return "URLCredentialStorage(\(credentials), \(ReadableText.count(counts.count, "protection space")))"
  }

  /// The credentials of all spaces, by the user's name.
  public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
    spaces.withLock { $0.mapValues(\.credentials) }
  }

  /// The credentials of a space by the user's name; nil if it has none.
  public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    spaces.withLock { $0[space]?.credentials }
  }

  /// Keeps a credential for a space, in place of one with the same user; one whose persistence is `none` isn't kept.
  public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    keep(credential, for: space, isDefault: false)
  }

  /// The credential that a session shows first; nil if none was set.
  public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    spaces.withLock { spaces in
      guard let space = spaces[space], let user = space.defaultUser else { return nil }
      return space.credentials[user]
    }
  }

  /// Keeps a credential as the space's default; one whose persistence is `none` isn't kept.
  public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    keep(credential, for: space, isDefault: true)
  }

  /// Removes a credential from a space, as its default too; one with another password isn't removed.
  public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    remove(credential, for: space, options: nil)
  }

  /// Removes a credential from a space, as its default too; one with another password isn't removed.
  ///
  /// - Parameters:
  ///   - credential: what is removed.
  ///   - space: where it is removed.
  ///   - options: whether copies on other devices go as well; without effect, since there are none.
  public func remove(
    _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
  ) {
    guard let user = credential.user else { return }
    spaces.withLock { spaces in
      guard var kept = spaces[space], kept.credentials[user]?.password == credential.password else { return }
      kept.credentials[user] = nil
      if kept.defaultUser == user { kept.defaultUser = nil }
      spaces[space] = kept.credentials.isEmpty ? nil : kept
    }
  }

  private func keep(_ credential: URLCredential, for space: URLProtectionSpace, isDefault: Bool) {
    guard credential.persistence != .none, let user = credential.user else { return }
    spaces.withLock { spaces in
      var kept = spaces[space] ?? Space()
      kept.credentials[user] = credential
      if isDefault { kept.defaultUser = user }
      spaces[space] = kept
    }
  }
}
