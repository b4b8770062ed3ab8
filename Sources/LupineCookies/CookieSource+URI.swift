// The parts of URLs that decide about cookies, read as the engine reads them, so that both mean one host.

package import Foundation
package import LupineWire

extension CookieSource {
  /// Nil if the host is longer than a name can be.
  package init?(_ uri: URI) {
    let host = uri.origin.socketPath ?? uri.origin.host
    guard host.utf8.count <= CookieLimits.hostBytesMax else { return nil }
    self.init(
      host: host, path: String(Substring(uri.target.utf8.prefix { $0 != UInt8(ascii: "?") })),
      isSecure: uri.origin.scheme == .https, port: uri.origin.port)
  }

  /// Nil if it isn't a URL that can be requested.
  package init?(_ url: URL) {
    guard let uri = try? URI(url.absoluteString) else { return nil }
    self.init(uri)
  }
}
