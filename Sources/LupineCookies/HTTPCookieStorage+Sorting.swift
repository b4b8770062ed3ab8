// The storage's cookies in an order, and the storages of groups.

public import Foundation
import Synchronization

extension HTTPCookieStorage {
  private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

  /// Returns the storage of a group, the same one for each identifier. Like all storages, it lives in this process's
  /// memory only, so it isn't shared with other programs.
  ///
  /// - Parameter identifier: The name of the group.
  public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
    groups.withLock { groups in
      if let storage = groups[identifier] { return storage }
      let storage = HTTPCookieStorage()
      groups[identifier] = storage
      return storage
    }
  }

  /// Returns all cookies that haven't expired, in an order.
  ///
  /// - Parameter sortOrder: The descriptors, the most important first. Without any, the order of ``cookies``.
  public func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
    (cookies ?? []).enumerated().sorted { left, right in
      for descriptor in sortOrder {
        switch descriptor.compare(left.element, to: right.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      // `sorted` isn't stable.
      return left.offset < right.offset
    }.map(\.element)
  }
}
