// CookieSource+URI: creates a CookieSource from a URL with the engine's URI parser, so
// that cookies and connections agree on the host.

package import Foundation
package import LupineWire

extension CookieSource {
  /// Creates the cookie source for a URI. Returns nil if the host is longer than the longest DNS name.
  package init?(_ uri: URI) {
    let host = uri.origin.socketPath ?? uri.origin.host
    guard host.utf8.count <= CookieLimits.hostBytesMax else { return nil }
    self.init(
      host: host, path: String(Substring(uri.target.utf8.prefix { $0 != UInt8(ascii: "?") })),
      isSecure: uri.origin.scheme == .https, port: uri.origin.port)
  }

  /// Creates the cookie source for a URL. Returns nil if the URL isn't a valid http or https URL.
  package init?(_ url: URL) {
    guard let uri = try? URI(url.absoluteString) else { return nil }
    self.init(uri)
  }
}
