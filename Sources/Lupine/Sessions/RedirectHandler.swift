// `RedirectHandler`: decides whether a redirect is followed, and with which request.

public import LupineURLSession

/// A type that decides whether a redirect is followed, and with which request.
public protocol RedirectHandler: Sendable {
  /// Decides about a redirect, then calls `completion` once, on any thread, with the request to send or with nil. If the value is
  /// nil, the redirect isn't followed, and the redirect's response becomes the task's response.
  ///
  /// If the server redirects from https to http, or to a Unix socket, the redirect is refused. This holds even if the handler
  /// changes the path or query, because that isn't a decision to send the request unencrypted or to a socket. If the server
  /// redirects to another scheme and the handler changes the scheme to http, the redirect is followed.
  ///
  /// - Parameters:
  ///   - task: The redirected task, which waits for `completion`.
  ///   - request: The request that follows the redirect (RFC 9110 §15.4).
  ///   - response: The redirect's response.
  ///   - completion: Receives the request to send, or nil.
  func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void)
}

/// A redirect handler that treats every redirect in the same way.
public struct Redirector: RedirectHandler {
  /// The way in which a ``Redirector`` treats every redirect.
  public enum Behavior: Sendable {
    /// Follows the redirect with the request that the session proposes.
    case follow
    /// Doesn't follow the redirect. The redirect's response becomes the task's response.
    case doNotFollow
    /// Follows the redirect with the request that the closure returns. If the closure returns nil, doesn't follow the redirect.
    case modify(@Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
  }

  /// A handler that follows every redirect. Sessions without a handler do the same.
  public static let follow = Redirector(behavior: .follow)
  /// A handler that follows no redirect. The redirect's response becomes the task's response.
  public static let doNotFollow = Redirector(behavior: .doNotFollow)

  /// The way in which this handler treats every redirect.
  public let behavior: Behavior

  /// Creates a handler that treats every redirect in the same way.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Calls `completion` synchronously with the request to send, or with nil, according to ``behavior``.
  public func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void
  ) {
    switch behavior {
    case .follow: completion(request)
    case .doNotFollow: completion(nil)
    case .modify(let closure): completion(closure(task, request, response))
    }
  }
}

extension RedirectHandler where Self == Redirector {
  /// A handler that follows every redirect. Sessions without a handler do the same.
  public static var follow: Redirector { Redirector(behavior: .follow) }

  /// A handler that follows no redirect. The redirect's response becomes the task's response.
  public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }

  /// A handler that follows redirects with the request that `closure` returns. If `closure` returns nil, the redirect isn't
  /// followed.
  @preconcurrency
  public static func modify(
    using closure:
      @escaping @Sendable (
        _ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse
      ) -> URLRequest?
  ) -> Redirector {
    Redirector(behavior: .modify(closure))
  }
}
