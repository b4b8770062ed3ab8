// `RedirectHandler`: decides whether a redirect is followed, and with which request.

public import LupineURLSession

/// Decides about a redirect before it is followed.
public protocol RedirectHandler: Sendable {
  /// Decides about a redirect, then calls `completion` once, on any thread, with the request to send; or with nil not
  /// to follow the redirect, so that its response becomes the task's response.
  ///
  /// A redirect from https to http, or to a Unix socket, is refused. It stays refused if the handler changes anything
  /// but the scheme: adding a query, for example, isn't a decision to send the request in the clear. It is followed
  /// only if the handler itself changes another scheme to http.
  ///
  /// - Parameters:
  ///   - task: The redirected task, which waits for `completion`.
  ///   - request: The request that follows the redirect (RFC 9110 §15.4).
  ///   - response: The redirect's response.
  ///   - completion: Takes the request to send, or nil.
  func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void)
}

/// A redirect handler that treats every redirect alike.
public struct Redirector: RedirectHandler {
  /// How redirects are handled.
  public enum Behavior: Sendable {
    /// The redirect is followed with the proposed request.
    case follow
    /// The redirect isn't followed; its response is the result.
    case doNotFollow
    /// The redirect is followed with the closure's request; with nil, it isn't followed.
    case modify(@Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
  }

  /// Follows every redirect, which is also the behavior without a handler.
  public static let follow = Redirector(behavior: .follow)
  /// Follows no redirect.
  public static let doNotFollow = Redirector(behavior: .doNotFollow)

  /// How redirects are handled.
  public let behavior: Behavior

  /// Creates a redirector.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Calls `completion` synchronously, as ``behavior`` says.
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
  /// Follows every redirect, which is also the behavior without a handler.
  public static var follow: Redirector { Redirector(behavior: .follow) }

  /// Follows no redirect; its response is the result.
  public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }

  /// Follows redirects with the request that `closure` returns; with nil, a redirect isn't followed.
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
