// URLRequest.CachePolicy: the ways in which a request can use caches.

import Foundation

extension URLRequest {
  /// How the request of a data task uses the session's ``URLSessionConfiguration/urlCache``.
  ///
  /// If the session has no cache, or the method is neither `GET` nor `HEAD`, the response is loaded from the origin. In this case,
  /// a request with the policy ``returnCacheDataDontLoad`` fails instead.
  public enum CachePolicy: UInt, Sendable {
    /// Uses a cached response if HTTP's caching rules allow it (RFC 9111). Otherwise, loads the response from the origin.
    case useProtocolCachePolicy = 0
    /// Always loads the response from the origin, and replaces the cached response with it.
    case reloadIgnoringLocalCacheData = 1
    /// Uses a cached response of any age. If there is none, loads the response from the origin.
    case returnCacheDataElseLoad = 2
    /// Uses a cached response of any age. If there is none, the request fails with `URLError.resourceUnavailable`.
    case returnCacheDataDontLoad = 3
    /// Always loads the response from the origin. Also bypasses all caches between client and origin, by sending `Cache-Control:
    /// no-cache` and `Pragma: no-cache`.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// Uses a cached response after the origin has confirmed that it is still valid. Uses a fresh response with `Cache-Control:
    /// immutable` without confirmation (RFC 8246 §2).
    case reloadRevalidatingCacheData = 5

    /// The former name of ``reloadIgnoringLocalCacheData``.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }
}
