// `CachedResponseHandler`: decides whether a response is cached, and in which form.

import Foundation
public import LupineURLSession

/// Decides how a response is cached.
///
/// Sessions have no cache yet: a handler is called and monitors are notified, but the result is discarded.
public protocol CachedResponseHandler: Sendable {
  /// Calls `completion` with the response to cache, or with nil to cache none.
  @preconcurrency
  func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// Caches every response unchanged, none, or a changed one.
public struct ResponseCacher: CachedResponseHandler {
  /// How responses are cached.
  public enum Behavior: Sendable {
    /// The response is cached unchanged.
    case cache
    /// The response isn't cached.
    case doNotCache
    /// The closure's result is cached; nil caches nothing.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)
  }

  /// Caches every response unchanged.
  public static let cache = ResponseCacher(behavior: .cache)
  /// Caches no response.
  public static let doNotCache = ResponseCacher(behavior: .doNotCache)

  /// How responses are cached.
  public let behavior: Behavior

  /// Creates a handler that treats every response alike.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Calls `completion` with the response as ``behavior`` changes it.
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
  /// Caches every response unchanged.
  public static var cache: ResponseCacher { .init(behavior: .cache) }
  /// Caches no response.
  public static var doNotCache: ResponseCacher { .init(behavior: .doNotCache) }
  /// Caches the result of `closure`.
  @preconcurrency
  public static func modify(
    using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
  ) -> ResponseCacher {
    ResponseCacher(behavior: .modify(closure))
  }
}
