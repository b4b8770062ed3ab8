// The parts of a URL that decide about its cookies. The engine's URI parser finds them, so that cookies and connections agree on
// the host.

package import Foundation
package import LupineWire

extension CookieSource {
  /// Creates a source, or nil if the host is longer than a DNS name can be.
  package init?(_ uri: URI) {
    let host = uri.origin.socketPath ?? uri.origin.host
    guard host.utf8.count <= CookieLimits.hostBytesMax else { return nil }
    self.init(
      host: host, path: String(Substring(uri.target.utf8.prefix { $0 != UInt8(ascii: "?") })),
      isSecure: uri.origin.scheme == .https, port: uri.origin.port)
  }

  /// Creates a source, or nil if the URL can't be requested over http or https.
  package init?(_ url: URL) {
    guard let uri = try? URI(url.absoluteString) else { return nil }
    self.init(uri)
  }
}
