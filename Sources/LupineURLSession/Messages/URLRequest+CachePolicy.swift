// URLRequest.CachePolicy: how a request uses caches.

import Foundation

extension URLRequest {
  /// How a request uses the session's cache.
  ///
  /// Sessions have no cache yet, so every policy behaves as with an empty cache: ``returnCacheDataDontLoad`` fails, and the other
  /// policies load the response.
  public enum CachePolicy: UInt, Sendable {
    /// Uses a cached response if HTTP's rules allow it (RFC 9111); otherwise loads the response.
    case useProtocolCachePolicy = 0
    /// Ignores the local cache.
    case reloadIgnoringLocalCacheData = 1
    /// Uses a cached response of any age; if there is none, loads the response.
    case returnCacheDataElseLoad = 2
    /// Uses a cached response of any age; if there is none, fails with `URLError.resourceUnavailable`.
    case returnCacheDataDontLoad = 3
    /// Ignores the local cache and all caches in between: sends `Cache-Control: no-cache` and `Pragma: no-cache`.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response after the server has confirmed that it is still valid.
    case reloadRevalidatingCacheData = 5

    /// The former name of ``reloadIgnoringLocalCacheData``.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }
}
