// URL+WebSocket: URLs with the schemes ws and wss, and the http and https URLs of the same servers.

import Foundation

extension URL {
  /// The http or https URL in place of a ws or wss URL.
  var inHTTPForm: URL { withScheme(["ws": "http", "wss": "https"]) }

  /// The ws or wss URL in place of an http or https URL.
  fileprivate var inWebSocketForm: URL { withScheme(["http": "ws", "https": "wss"]) }

  private func withScheme(_ schemes: [String: String]) -> URL {
    guard let scheme, let other = schemes[scheme.lowercased()] else { return self }
    return URL(string: other + absoluteString.dropFirst(scheme.count)) ?? self
  }
}

extension URLRequest {
  /// The request with an http or https URL in place of a ws or wss URL.
  var inHTTPForm: URLRequest { with(url?.inHTTPForm) }

  /// The request with a ws or wss URL in place of an http or https URL.
  package var inWebSocketForm: URLRequest { with(url?.inWebSocketForm) }

  private func with(_ other: URL?) -> URLRequest {
    guard other != url else { return self }
    var request = self
    request.url = other
    return request
  }
}
