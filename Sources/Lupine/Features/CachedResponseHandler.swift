// Who decides whether a response is stored, and what of it.

import Foundation
public import LupineURLSession

/// Decides about storing a response.
///
/// Sessions have no cache yet: a handler is asked and told to monitors, and what it returns is kept nowhere.
public protocol CachedResponseHandler: Sendable {
  /// Calls `completion` with what is to be stored of a complete response, or nil.
  @preconcurrency
  func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping @Sendable (CachedURLResponse?) -> Void)
}

/// Stores responses as they are, not at all, or changed.
public struct ResponseCacher: CachedResponseHandler {
  /// What becomes of a response.
  public enum Behavior: Sendable {
    /// It is stored as it is.
    case cache
    /// It isn't stored.
    case doNotCache
    /// What the closure returns is stored; nil is nothing.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)
  }

  /// Stores every response as it is.
  public static let cache = ResponseCacher(behavior: .cache)
  /// Stores no response.
  public static let doNotCache = ResponseCacher(behavior: .doNotCache)

  /// What becomes of a response.
  public let behavior: Behavior

  /// Makes a handler that does the same with every response.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Calls `completion` with what the behaviour makes of the response.
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
  /// Stores every response as it is.
  public static var cache: ResponseCacher { .init(behavior: .cache) }
  /// Stores no response.
  public static var doNotCache: ResponseCacher { .init(behavior: .doNotCache) }
  /// Stores what `closure` makes of a response.
  @preconcurrency
  public static func modify(
    using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
  ) -> ResponseCacher {
    ResponseCacher(behavior: .modify(closure))
  }
}
