// URLCredentialStorage: stores credentials in memory, by protection space and user name.

public import Foundation
import Synchronization

extension NSNotification.Name {
  /// Posted after the credentials of a ``URLCredentialStorage``, or one of its default credentials, have changed. The
  /// notification's object is the storage. It is posted on the thread that made the change.
  public static let NSURLCredentialStorageChanged = NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// The key of an option of ``URLCredentialStorage/remove(_:for:options:)``: an `NSNumber` that is true to remove a
/// credential whose persistence is `synchronizable`.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
  "NSURLCredentialStorageRemoveSynchronizableCredentials"

// Unchecked because the class is open. All state is protected by the Mutex.
/// A thread-safe store of credentials, which several sessions can share.
///
/// Credentials are kept in memory until the process ends, even `permanent` ones, because Linux has no keychain. The application
/// must set them again after each start. A credential whose persistence is `none` isn't stored.
///
/// A subclass can keep credentials elsewhere. Sessions call its ``defaultCredential(for:)`` on any thread, so the method must be
/// thread-safe.
open class URLCredentialStorage: NSObject, @unchecked Sendable {
  private struct Space: Equatable {
    var credentials: [String: URLCredential] = [:]
    var defaultUser: String?
  }

  /// The credential storage of ``URLSessionConfiguration/default``.
  open class var shared: URLCredentialStorage { sharedStorage }

  private static let sharedStorage = URLCredentialStorage()

  private let spaces = Mutex<[URLProtectionSpace: Space]>([:])

  /// Creates an empty storage.
  public override init() {
    super.init()
  }

  /// A textual description of the storage: the numbers of credentials and of protection spaces. It contains no credential.
  open override var description: String {
    let counts = spaces.withLock { $0.values.map(\.credentials.count) }
    let credentials = ReadableText.count(counts.reduce(0, +), "credential")
    return "URLCredentialStorage(\(credentials), \(ReadableText.count(counts.count, "protection space")))"
  }

  /// All stored credentials, by protection space and then by user name.
  open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
    spaces.withLock { $0.mapValues(\.credentials) }
  }

  /// Returns the credentials of a protection space, keyed by user name, or nil if the space has none.
  open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    spaces.withLock { $0[space]?.credentials }
  }

  /// Stores a credential for a protection space, in place of a stored credential with the same user name. The first credential of a
  /// protection space becomes the default credential. A credential whose persistence is `none` isn't stored.
  open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    store(credential, for: space, isDefault: false)
  }

  /// Returns the credential that sessions send by default to the server or proxy of a protection space, or nil if there is none.
  open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    spaces.withLock { spaces in
      guard let space = spaces[space], let user = space.defaultUser else { return nil }
      return space.credentials[user]
    }
  }

  /// Stores a credential as the protection space's default. A credential whose persistence is `none` isn't stored.
  open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    store(credential, for: space, isDefault: true)
  }

  /// Removes a credential from a protection space. Has no effect if the stored credential of the same user name has another
  /// password, or if the credential's persistence is `synchronizable`.
  open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    remove(credential, for: space, options: nil)
  }

  /// Removes a credential from a protection space. Has no effect if the stored credential of the same user name has another
  /// password.
  ///
  /// If the removed credential was the default, the protection space has no default until another credential is set.
  ///
  /// - Parameters:
  ///   - credential: The credential to remove.
  ///   - space: The protection space.
  ///   - options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` must be true to remove a
  ///     credential whose persistence is `synchronizable`.
  open func remove(
    _ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]
  ) {
    let removesSynchronizable = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? NSNumber == true
    guard let user = credential.user, removesSynchronizable || !credential.persistence.isSynchronizable else { return }
    let found = credentials(for: space)?[user]
    guard let found, found.password == credential.password else { return }
    change(space) { stored in
      // Another thread may have replaced the credential.
      guard stored.credentials[user] === found else { return }
      stored.credentials[user] = nil
      if stored.defaultUser == user { stored.defaultUser = nil }
    }
  }

  private func store(_ credential: URLCredential, for space: URLProtectionSpace, isDefault: Bool) {
    guard credential.persistence != .none, let user = credential.user else { return }
    change(space) { stored in
      stored.credentials[user] = credential
      if isDefault || stored.defaultUser == nil { stored.defaultUser = user }
    }
  }

  /// Changes the credentials of a protection space with `edit`, and posts `NSURLCredentialStorageChanged` if the credentials differ
  /// afterward. Compares and releases credentials without holding the lock, because the methods of a URLCredential subclass may use
  /// the storage.
  private func change(_ space: URLProtectionSpace, by edit: (inout Space) -> Void) {
    let (before, after) = spaces.withLock { spaces in
      let before = spaces[space] ?? Space()
      var after = before
      edit(&after)
      spaces[space] = after.credentials.isEmpty ? nil : after
      return (before, after)
    }
    if after != before { NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self) }
  }
}

extension URLCredential.Persistence {
  /// Whether the persistence is `synchronizable`. Compares the raw value, because using the deprecated case would cause a warning.
  fileprivate var isSynchronizable: Bool { rawValue == 3 }
}
