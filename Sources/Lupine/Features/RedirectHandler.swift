// Who decides whether a redirect is followed, and with which request.

public import LupineURLSession

/// Decides about a redirect before it is followed.
public protocol RedirectHandler: Sendable {
  /// Looks at the request that would be sent next and calls `completion` once, on any thread, with the one that is to
  /// be sent, or with nil to follow no further; the redirect's own response is then the task's.
  ///
  /// A redirect from https to http, or to a Unix socket, is refused, and stays refused whatever the handler changes but the
  /// scheme: a query that it adds is no decision to send the request in clear. Only a handler that turns another scheme
  /// into http leads there.
  ///
  /// - Parameters:
  ///   - task: the task that was redirected; it waits for the answer.
  ///   - request: what following the redirect would send (RFC 9110 §15.4).
  ///   - response: the response with the redirect.
  ///   - completion: takes the answer.
  func task(
    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
    completion: @escaping (URLRequest?) -> Void)
}

/// A redirect handler that does the same with every redirect.
public struct Redirector: RedirectHandler {
  /// What to do with a redirect.
  public enum Behavior: Sendable {
    /// The request is sent as the redirect says.
    case follow
    /// The redirect's own response is the result.
    case doNotFollow
    /// The request that the closure returns is sent; with nil the redirect isn't followed.
    case modify(@Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?)
  }

  /// Follows every redirect, as happens without a handler.
  public static let follow = Redirector(behavior: .follow)
  /// Follows none.
  public static let doNotFollow = Redirector(behavior: .doNotFollow)

  /// What the redirector does.
  public let behavior: Behavior

  /// A redirector that does so.
  public init(behavior: Behavior) {
    self.behavior = behavior
  }

  /// Answers at once, as ``behavior`` says.
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
  /// Follows every redirect, as happens without a handler.
  public static var follow: Redirector { Redirector(behavior: .follow) }

  /// Follows none: the redirect's own response is the result.
  public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }

  /// Sends the request that `closure` returns; with nil the redirect isn't followed.
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
