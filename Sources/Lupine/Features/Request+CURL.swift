// The request as a curl command, when it has been built.

public import Foundation

extension Request {
  /// The curl command of the latest request, or a sentence that says that none was built yet.
  public func cURLDescription() -> String {
    guard let request = lastRequest else { return "No curl command: the request was not built yet. Resume it first." }
    return description(of: request)
  }

  /// Calls `handler` on `queue` with the curl command whenever a request is built, and with the latest if there is one.
  @discardableResult
  public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self {
    onCreation { [weak self] request in
      guard let self else { return }
      let text = description(of: request)
      queue.async { handler(text) }
    }
    return self
  }

  /// Calls `handler` with the curl command on the underlying queue.
  @discardableResult
  public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
    onCreation { [weak self] request in
      guard let self else { return }
      handler(description(of: request))
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
