// HTTPCookieStorage+Sorting: returns a storage's cookies in a chosen order, and the storage of a group.

import Foundation
import Synchronization

extension HTTPCookieStorage {
  private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

  /// Returns the cookie storage of an app group, and creates it if necessary.
  static func ofGroup(_ identifier: String) -> HTTPCookieStorage {
    groups.withLock { groups in
      if let storage = groups[identifier] { return storage }
      let storage = HTTPCookieStorage()
      groups[identifier] = storage
      return storage
    }
  }

  /// Returns the storage's cookies, sorted by the descriptors. Cookies that the descriptors treat as equal keep their order in
  /// `cookies`.
  func sorted(by sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
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
