// EngineClient+Connectivity: determines whether the network has a path for a request.

import Foundation
import LupineEngine

extension EngineClient {
  /// Whether the network certainly has no default route. False if the network's state can't be read.
  func isOffline() -> Bool { settings.network.waiters.source.isOffline() }

  /// Returns a closure that returns whether a given state of the network permits the request to succeed. There must be a route to
  /// the host's address or, if the host is a name, any route. The closure also returns true for nil, which means that the network's
  /// state can't be read.
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
  /// Returns the error for a task whose time limit has passed while it was waiting for a network.
  static func noNetworkInTime(_ url: URL?) -> URLError {
    URLError(
      .timedOut, "\(ReadableText.url(url)): no network within the resource timeout. Raise the timeout, or retry later.",
      url: url)
  }
}
