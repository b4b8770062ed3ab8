// `Request`'s curl commands.

public import Foundation
import LupineURLSession

extension Request {
  /// Returns the curl command of the latest `URLRequest`. If none has been created yet, returns a message that says so.
  public func cURLDescription() -> String {
    lastRequest.map(description) ?? "No curl command: the request has not been built yet. Resume it first."
  }

  /// Calls `handler` on `queue` with the curl command of each `URLRequest`, beginning with the latest one if there is one.
  ///
  /// If a request can't be adapted, the command describes the unadapted request. If a request
  /// can't be created, `handler` receives a message.
  @preconcurrency
  @discardableResult
  public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self {
    cURLDescription { text in queue.async { handler(text) } }
  }

  /// Calls `handler` on the request's underlying queue with the curl command of each `URLRequest`, beginning with the latest one
  /// if there is one.
  @preconcurrency
  @discardableResult
  public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
    onCreation { [weak self] result in
      guard let self else { return }
      let request =
        switch result {
        case .success(let request): request
        case .failure(let failure): failure.initialRequest
        }
      handler(request.map(description) ?? "No curl command: the request could not be built. See its error.")
    }
    return self
  }

  private func description(of request: URLRequest) -> String {
    let configuration = session?.sessionConfiguration
    return Lupine.cURLDescription(
      of: request, configuration: configuration?.headers ?? HTTPHeaders(),
      credential: credential,
      cookies: configuration?.cookieField(for: request))
  }
}
