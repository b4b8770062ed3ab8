// `Request`'s curl commands.

public import Foundation
import LupineURLSession

extension Request {
  /// Returns a curl command that sends this request's latest `URLRequest`, or a message if no `URLRequest` has been created yet.
  public func cURLDescription() -> String {
    lastRequest.map(description) ?? "No curl command: the request has not been built yet. Resume it first."
  }

  /// Calls `handler` on `queue` with a curl command for each `URLRequest` that is created for this request. If `URLRequest`s have
  /// already been created, begins with the latest one.
  ///
  /// If an adapter fails, the command describes the `URLRequest` as it was before adaptation. If a `URLRequest` can't be created,
  /// `handler` receives a message that says so.
  @preconcurrency
  @discardableResult
  public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self {
    cURLDescription { text in queue.async { handler(text) } }
  }

  /// Calls `handler` on the request's underlying queue with a curl command for each `URLRequest` that is created for this request.
  /// If `URLRequest`s have already been created, begins with the latest one.
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
