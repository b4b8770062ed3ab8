// HTTPCookieStorage+Sorting: returns a storage's cookies in a chosen order, and the storage of a group.

public import Foundation
import Synchronization

extension HTTPCookieStorage {
  private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

  /// Returns the cookie storage of an app group. The same identifier always returns the same storage. Like all storages, it exists
  /// only in the memory of this process, so other programs don't share it.
  ///
  /// - Parameter identifier: The identifier of the group.
  public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
    groups.withLock { groups in
      if let storage = groups[identifier] { return storage }
      let storage = HTTPCookieStorage()
      groups[identifier] = storage
      return storage
    }
  }

  /// Returns all cookies that haven't expired, sorted.
  ///
  /// - Parameter sortOrder: The sort descriptors, most important first. If it is
  ///   empty, the cookies have the order of ``cookies``.
  public func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
    (cookies ?? []).enumerated().sorted { left, right in
      for descriptor in sortOrder {
        switch descriptor.compare(left.element, to: right.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      // `sorted` isn't stable, so equal cookies are compared by position.
      return left.offset < right.offset
    }.map(\.element)
  }
}
