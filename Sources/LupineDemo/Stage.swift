// What the steps have at hand: an origin in clear, one with TLS, a second one elsewhere, and sessions.

import Foundation
import Lupine
import LupineOrigin

/// The servers and sessions of the tour. Everything is on loopback and in this process.
struct Stage: Sendable {
  /// The origin that most steps talk to, such as "http://127.0.0.1:40123".
  let origin: String
  /// Another origin, for a redirect that leaves the first.
  let elsewhere: String
  /// The origin with TLS, by a certificate of an authority that was made for this run.
  let secure: String
  /// The authority's certificate in a file.
  let authority: String
  /// A session with default settings.
  let session = Session()
  /// Opens when the request that is to be cancelled has reached the origin.
  let cancelArrived = Gate()

  private let servers: [OriginServer]

  init() throws {
    let clear = try OriginServer.serving { [cancelArrived] request in
      if request.target == "/slow?cancel" { cancelArrived.open() }
      return DemoRoutes.reply(to: request)
    }
    let other = try OriginServer.serving(DemoRoutes.reply)
    let identity = try ServerIdentity.throwaway()
    let tls = try OriginServer.serving(tls: identity, DemoRoutes.reply)
    (origin, elsewhere, secure) = (clear.url, other.url, tls.url)
    servers = [clear, other, tls]
    authority = FileManager.default.temporaryDirectory.appending(path: "lupine-demo-\(UUID().uuidString).pem").path
    try Data(identity.authorityPEM).write(to: URL(filePath: authority))
  }

  /// Stops the servers and removes the certificate.
  func close() {
    try? FileManager.default.removeItem(atPath: authority)
    for server in servers { server.stop() }
  }
}

/// What `/json` says.
struct Plant: Decodable, Sendable {
  let name: String
  let family: String
  let species: Int
  let colours: [String]
}

/// What `/echo` says of the request that it got.
struct Echo: Decodable, Sendable {
  let method: String
  let path: String
  let headers: [String: String]
  let form: [String: String]?
  let body: String
}
