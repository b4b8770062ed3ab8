// URLCredentialStorage: the credentials of sessions by protection space and user, in memory.

public import Foundation
import Synchronization

/// Credentials shared by sessions and the application. Safe to use from any thread.
///
/// The credentials are kept in memory until the process ends, also those with `permanent` persistence, because Linux has no
/// keychain. Set them again at the next start. Credentials with the persistence `none` aren't kept.
public final class URLCredentialStorage: NSObject, Sendable {
  private struct Space {
    var credentials: [String: URLCredential] = [:]
    var defaultUser: String?
  }

  /// The storage used by `URLSessionConfiguration.default`.
  public static let shared = URLCredentialStorage()

  private let spaces = Mutex<[URLProtectionSpace: Space]>([:])

  /// Creates an empty, separate storage. Foundation has no initializer for this.
  public override init() {
    super.init()
  }

  /// The number of credentials, without the credentials.
  public override var description: String {
    let counts = spaces.withLock { $0.values.map(\.credentials.count) }
    let credentials = ReadableText.count(counts.reduce(0, +), "credential")
    return "URLCredentialStorage(\(credentials), \(ReadableText.count(counts.count, "protection space")))"
  }

  /// The credentials of all spaces, by user name.
  public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
    spaces.withLock { $0.mapValues(\.credentials) }
  }

  /// Returns the credentials of a space by user name; nil if it has none.
  public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    spaces.withLock { $0[space]?.credentials }
  }

  /// Stores a credential for a space and replaces one of the same user. Does nothing if its persistence is `none`.
  public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    keep(credential, for: space, isDefault: false)
  }

  /// Returns the credential that a session sends by default; nil if none was set.
  public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    spaces.withLock { spaces in
      guard let space = spaces[space], let user = space.defaultUser else { return nil }
      return space.credentials[user]
    }
  }

  /// Stores a credential as the default of a space. Does nothing if its persistence is `none`.
  public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    keep(credential, for: space, isDefault: true)
  }

  /// Removes a credential from a space, also as the default. Does nothing if the stored password differs.
  public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    remove(credential, for: space, options: nil)
  }

  /// Removes a credential from a space, also as the default. Does nothing if the stored password differs.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - space: The protection space.
  ///   - options: Ignored, because credentials aren't shared with other devices.
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
