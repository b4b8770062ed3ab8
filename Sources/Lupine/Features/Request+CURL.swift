// The request as a curl command, when it has been built.

public import Foundation
import LupineURLSession

extension Request {
  /// The curl command of the latest request, or a sentence that says that none was built yet.
  public func cURLDescription() -> String {
    lastRequest.map(description) ?? "No curl command: the request was not built yet. Resume it first."
  }

  /// Calls `handler` on `queue` with the curl command whenever a request is built, and with the latest if there is one.
  ///
  /// If one can't be adapted, it is the command of what was to be adapted; if one can't be made, a sentence that says so.
  @preconcurrency
  @discardableResult
  public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self {
    cURLDescription { text in queue.async { handler(text) } }
  }

  /// The same on the underlying queue.
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
      handler(request.map(description) ?? "No curl command: the request can't be made. Look at its error.")
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
