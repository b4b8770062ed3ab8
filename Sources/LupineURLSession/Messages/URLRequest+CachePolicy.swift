// How caches are used for a request.

import Foundation

extension URLRequest {
  /// How caches are used.
  ///
  /// Sessions have no cache of their own yet, which is as if it were empty: all policies load, but for
  /// ``returnCacheDataDontLoad``, which finds nothing.
  public enum CachePolicy: UInt, Sendable {
    /// As the protocol says: what is stored and fresh is used.
    case useProtocolCachePolicy = 0
    /// What is stored here is not used.
    case reloadIgnoringLocalCacheData = 1
    /// What is stored is used, however old it is; without it the response is loaded.
    case returnCacheDataElseLoad = 2
    /// What is stored is used, however old it is; without it the request fails with `URLError.resourceUnavailable`.
    case returnCacheDataDontLoad = 3
    /// Nothing that is stored is used, here or on the way: `Cache-Control: no-cache` and `Pragma: no-cache` are sent.
    case reloadIgnoringLocalAndRemoteCacheData = 4
    /// What is stored is used if the server says that it hasn't changed.
    case reloadRevalidatingCacheData = 5

    /// The same as ``reloadIgnoringLocalCacheData``.
    public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
  }
}
