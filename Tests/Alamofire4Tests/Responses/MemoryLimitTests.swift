// MemoryLimitTests: the session's limit for response bodies that requests keep in memory.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct MemoryLimitTests {
  @Test("a body that exceeds the session's limit fails a request and an upload, unless a closure receives the body")
  func limit() async throws {
    let server = try OriginServer { peer in
      try peer.serve { request in
        let pieces = [50, request.path == "/long" ? 51 : 50].map { [UInt8](repeating: 0x78, count: $0) }
        return Reply(.chunks(pieces, pause: .zero))
      }
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.bodyBytesMax = 100
    let manager = SessionManager(configuration: configuration)
    let body = Data("body".utf8)
    for make in [
      { (path: String) in manager.request(server.url + path) }, { manager.upload(body, to: server.url + $0) },
    ] {
      let fits = await make("/fits").finished()
      #expect(fits.data?.count == 100 && fits.error == nil)
      let long = await make("/long").finished()
      #expect(long.data?.isEmpty != false && (long.error as? URLError)?.code == .dataLengthExceedsMaximum)
      #expect(long.error?.localizedDescription.contains("limit of 100 bytes") == true)
    }
    let count = Shared(0)
    // The closure must be set before the body arrives: the manager collects bytes that arrive earlier.
    manager.startRequestsImmediately = false
    let request = manager.request(server.url + "/long").stream { data in count.update { $0 += data.count } }
    request.resume()
    let streamed = await request.finished()
    #expect(streamed.error == nil && count.value == 101)
  }

  @Test("a request whose response declares a longer body than the session's limit fails before the body arrives")
  func declared() async throws {
    let server = try OriginServer { peer in
      while try peer.readRequest() != nil { try peer.send("HTTP/1.1 200 X\r\nContent-Length: 101\r\n\r\n") }
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.ephemeral
    (configuration.bodyBytesMax, configuration.timeoutIntervalForRequest) = (100, 30)
    let manager = SessionManager(configuration: configuration)
    let long = await manager.request(server.url).finished()
    #expect((long.error as? URLError)?.code == .dataLengthExceedsMaximum)
  }
}
