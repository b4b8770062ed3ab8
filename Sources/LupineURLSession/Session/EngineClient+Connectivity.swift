// EngineClient+Connectivity: determines whether the network has a path for a request.

import Foundation
import LupineEngine

extension EngineClient {
  /// Whether the network is known to have no default route.
  func isOffline() -> Bool { settings.network.waiters.source.isOffline() }

  /// Returns a closure that decides from a network's state whether the request may succeed: the network must have a route to the
  /// host's address or, if the host is a name, any route. The closure also returns true if the network's state can't be read (nil).
  func pathCondition(for request: URLRequest) -> @Sendable (NetworkState?) -> Bool {
    let refused: Set<NetworkPath.Medium> = settings.network.refusesCellular(request.options) ? [.cellular] : []
    let address = request.url?.host.flatMap { IPAddress($0.trimmingCharacters(in: ["[", "]"])) }
    return { network in
      guard let network else { return true }
      guard let address else { return network.hasRoute(refusing: refused) }
      return network.path(to: address, refusing: refused) != nil
    }
  }
}

extension URLError {
  /// Returns the error for a task that has waited for a network until its time limit passed.
  static func noNetworkInTime(_ url: URL?) -> URLError {
    let text = "\(ReadableText.url(url)): no network within the resource timeout. Raise the timeout, or retry later."
    var info: [String: Any] = [NSLocalizedDescriptionKey: text]
    if let url { info[NSURLErrorFailingURLErrorKey] = url }
    return URLError(.timedOut, userInfo: info)
  }
}
