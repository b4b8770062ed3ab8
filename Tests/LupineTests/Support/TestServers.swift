// The servers for integration tests: httpbin and nginx on loopback, started by `make servers-up`.

import Foundation
import Lupine
import LupineEngine

/// The addresses of Tests/Servers/servers. Reading one throws `Down` if its server isn't running.
enum TestServers {
  /// No server listens at the address.
  struct Down: Error, CustomStringConvertible {
    let url: String
    var description: String { "\(url) doesn't answer; start the test servers: make servers-install servers-up" }
  }

  /// The URL of httpbin over plain HTTP, without a trailing slash.
  static var httpbin: String { get async throws { try await httpbinIsUp.value } }
  /// The URL of nginx over plain HTTP.
  static var nginx: String { get async throws { try await nginxIsUp.value } }
  /// The URL of nginx over plain HTTP and IPv6.
  static var nginx6: String { get async throws { try await nginx6IsUp.value } }

  /// The ports at which nginx speaks TLS, one for each kind of certificate.
  enum TLS: Int {
    case good = 28443
    case expired = 28444
    case wrongHost = 28445
    case selfSigned = 28446
    case oldVersions = 28447
    /// Answers 400 to clients without a certificate.
    case clientCertificate = 28448

    var url: String {
      get async throws {
        _ = try await TestServers.nginx
        return "https://localhost:\(rawValue)"
      }
    }
  }

  /// The path of the certificate of the authority that signed the certificates of `TLS`.
  static var authority: String { "\(folder)/pki/ca.crt" }

  /// The paths of a client certificate signed by that authority, and of its key.
  static var client: (certificate: String, key: String) { ("\(folder)/pki/client.crt", "\(folder)/pki/client.key") }

  /// The path of the Unix socket on which nginx also listens.
  static var nginxSocket: String {
    get async throws {
      _ = try await nginx
      return "\(folder)/nginx.sock"
    }
  }

  private static let folder =
    ProcessInfo.processInfo.environment["LUPINE_SERVERS"] ?? "/tmp/lupine-servers-\(getuid())"

  private static let httpbinIsUp = probe("http://127.0.0.1:28080", path: "/status/200")
  private static let nginxIsUp = probe("http://127.0.0.1:28082", path: "/small.txt")
  private static let nginx6IsUp = probe("http://[::1]:28082", path: "/small.txt")

  private static func probe(_ url: String, path: String) -> Task<String, any Error> {
    Task {
      let error = await AF.request(url + path).serializingData(emptyResponseCodes: [200]).response.error
      if (error?.underlyingError as? URLError)?.code == .cannotConnectToHost { throw Down(url: url) }
      return url
    }
  }
}
