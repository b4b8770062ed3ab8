// Stage: what the demo's steps use: an origin without TLS, an origin with TLS, a second origin, and a session.

import Foundation
import Lupine
import LupineOrigin

/// The servers and the session that the steps of the demo use. All servers run on loopback in this process.
struct Stage: Sendable {
  /// The URL of the origin without TLS that most steps use, such as "http://127.0.0.1:40123".
  let origin: String
  /// The URL of a second origin, to which the first origin redirects a request.
  let elsewhere: String
  /// The URL of the origin with TLS. Its certificate was issued by an authority created for this run.
  let secure: String
  /// The path of a PEM file with the certificate of the authority that issued the TLS origin's certificate.
  let authority: String
  /// The session that most steps use, with default settings.
  let session = Session()
  /// Opens when the origin has received the request that a step of the demo then cancels.
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

  /// Stops the servers and deletes the file with the authority's certificate.
  func close() {
    try? FileManager.default.removeItem(atPath: authority)
    for server in servers { server.stop() }
  }
}

/// The JSON document that the origin serves at `/json`.
struct Plant: Decodable, Sendable {
  let name: String
  let family: String
  let species: Int
  let colours: [String]
}

/// The JSON document with which the origin responds to `/echo`. It describes the received request.
struct Echo: Decodable, Sendable {
  let method: String
  let path: String
  let headers: [String: String]
  let form: [String: String]?
  let body: String
}
