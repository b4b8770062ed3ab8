// URLRequest.CachePolicy: the ways in which a request can use caches.

import Foundation

extension URLRequest {
  /// The way in which a request uses the session's cache.
  ///
  /// Sessions have no cache yet, so every policy behaves as if the cache were empty: ``returnCacheDataDontLoad`` fails, and the
  /// other policies load the response.
  public enum CachePolicy: UInt, Sendable {
    /// Uses a cached response if HTTP's rules allow it (RFC 9111), and otherwise loads the response.
    case useProtocolCachePolicy = 0
    /// Ignores the local cache.
    case reloadIgnoringLocalCacheData = 1
    /// Uses a cached response of any age, or loads the response if there is none.
    case returnCacheDataElseLoad = 2
    /// Uses a cached response of any age, or fails with `URLError.resourceUnavailable` if there is none.
    case returnCacheDataDontLoad = 3
    /// Ignores the local cache and all caches on the path: sends `Cache-Control: no-cache` and `Pragma: no-cache`.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response only after the server has confirmed that it is still valid.
    case reloadRevalidatingCacheData = 5

    /// The former name of ``reloadIgnoringLocalCacheData``.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }
}
