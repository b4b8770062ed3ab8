// UnixSocketTests: a session reaches a server at a Unix socket by the URL or by its configuration.

import Foundation
import Lupine
import LupineEngine
import Testing

@Suite("Requests to Unix sockets", .timeLimit(.minutes(10)))
struct UnixSocketTests {
  @Test("a request's URL can contain the path of a Unix socket")
  func byURL() async throws {
    try await withSession { session in
      let path = try await TestServers.nginxSocket.replacing("/", with: "%2F")
      let response = await session.request("http+unix://\(path)/small.txt").outcome()
      #expect(response.data == Data("small\n".utf8), "\(String(describing: response.error))")
    }
  }

  @Test("a session can send all its requests to one Unix socket")
  func byConfiguration() async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.engine.socketPath = try await TestServers.nginxSocket
    let session = Session(configuration: configuration)
    let response = await session.request("http://any.example/small.txt").outcome()
    #expect(response.data == Data("small\n".utf8), "\(String(describing: response.error))")
  }
}
