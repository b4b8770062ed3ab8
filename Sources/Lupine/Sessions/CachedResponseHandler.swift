// `CachedResponseHandler`: decides whether a response is cached, and in which form.

import Foundation
public import LupineURLSession

/// A type that decides whether a response is cached, and in which form. It is called when the response has arrived completely from
/// the server.
///
/// The handler isn't called for a response from the cache. A response that HTTP's rules forbid to store is never stored.
public protocol CachedResponseHandler: Sendable {
  /// Calls `completion` with the response to cache, or with nil to cache nothing.
  @preconcurrency
  func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// A cached-response handler that treats every response in the same way.
public struct ResponseCacher: CachedResponseHandler {
  /// The way in which a ``ResponseCacher`` treats every response.
  public enum Behavior: Sendable {
    /// Stores the response in the cache unchanged.
    case cache
    /// Doesn't store the response in the cache.
    case doNotCache
    /// Caches the response that the closure returns, or nothing if the closure returns nil.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)
  }

  /// A handler that caches every response unchanged.
  public static let cache = ResponseCacher(behavior: .cache)
  /// A handler that caches no response.
  public static let doNotCache = ResponseCacher(behavior: .doNotCache)

  /// The way in which this handler treats every response.
  public let behavior: Behavior

  /// Creates a handler that treats every response in the same way.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Calls `completion` with the response to cache, or with nil to cache nothing, according to ``behavior``.
  @preconcurrency
  public func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    switch behavior {
    case .cache: completion(response)
    case .doNotCache: completion(nil)
    case .modify(let closure): completion(closure(task, response))
    }
  }
}

extension CachedResponseHandler where Self == ResponseCacher {
  /// A handler that caches every response unchanged.
  public static var cache: ResponseCacher { .init(behavior: .cache) }
  /// A handler that caches no response.
  public static var doNotCache: ResponseCacher { .init(behavior: .doNotCache) }
  /// A handler that caches the response that `closure` returns, or nothing if `closure` returns nil.
  @preconcurrency
  public static func modify(
    using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
  ) -> ResponseCacher {
    ResponseCacher(behavior: .modify(closure))
  }
}
