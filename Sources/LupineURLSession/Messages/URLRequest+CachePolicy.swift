// URLRequest.CachePolicy: the ways in which a request can use caches.

import Foundation

extension URLRequest {
  /// The way in which a data task's request uses the session's ``URLSessionConfiguration/urlCache``.
  ///
  /// If the session has no cache, or the method is neither `GET` nor `HEAD`, a request with ``returnCacheDataDontLoad`` fails,
  /// and the other policies load the response.
  public enum CachePolicy: UInt, Sendable {
    /// Uses a cached response if HTTP's rules allow it (RFC 9111), and otherwise loads the response.
    case useProtocolCachePolicy = 0
    /// Loads the response from the origin, and replaces the stored response.
    case reloadIgnoringLocalCacheData = 1
    /// Uses a cached response of any age, or loads the response if there is none.
    case returnCacheDataElseLoad = 2
    /// Uses a cached response of any age, or fails with `URLError.resourceUnavailable` if there is none.
    case returnCacheDataDontLoad = 3
    /// Ignores the local cache and all caches on the path: sends `Cache-Control: no-cache` and `Pragma: no-cache`.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response after the server has confirmed that it is still valid. A fresh response that is `immutable` needs
    /// no confirmation (RFC 8246 §2).
    case reloadRevalidatingCacheData = 5

    /// The former name of ``reloadIgnoringLocalCacheData``.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }
}
