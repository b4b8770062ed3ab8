// CollectedBodyTests: the session's limit for response bodies that requests keep in memory.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct CollectedBodyTests {
  @Test("a data request and an upload fail if the body exceeds the session's limit, and succeed at exactly the limit")
  func limit() async throws {
    try await withServer { request in
      // Chunks don't declare the body's length.
      let pieces = [50, request.path == "/long" ? 51 : 50].map { [UInt8](repeating: 0x78, count: $0) }
      return Reply(.chunks(pieces, pause: .milliseconds(1)))
    } _: { origin in
      try await withSession {
        $0.bodyBytesMax = 100
      } _: { session in
        let retrier = ScriptedRetrier(Array(repeating: .doNotRetry, count: 9))
        for make in [
          { (path: String) -> DataRequest in session.request(origin.url + path, interceptor: retrier) },
          { path in session.upload(Data("body".utf8), to: origin.url + path, interceptor: retrier) },
        ] {
          let fits = await make("/fits").outcome()
          #expect(fits.data?.count == 100 && fits.error == nil)
          let long = await make("/long").outcome()
          #expect(long.data == nil && long.response?.statusCode == 200)
          try expectExcess(long.error, of: origin.url + "/long")
        }
        // Streams and files take no memory for the whole body.
        let stream = session.streamRequest(origin.url + "/long").streamTask().streamingData()
        var count = 0
        for await case .stream(.success(let data)) in stream.map(\.event) { count += data.count }
        #expect(count == 101)
        #expect(await session.download(origin.url + "/long").serializingData().response.value?.count == 101)
      }
    }
  }

  @Test("a request whose response declares a longer body than the session's limit fails before the body arrives")
  func declared() async throws {
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        let status = request.path == "/204" ? "204" : "200"
        try peer.send("HTTP/1.1 \(status) X\r\nContent-Length: 101\r\n\r\n")
      }
    } _: { origin in
      // Without the check of the declared length, the request would wait for the body until the time limit.
      try await withSession(eventMonitors: []) {
        ($0.bodyBytesMax, $0.timeoutIntervalForRequest) = (100, 30)
      } _: { session in
        let long = await session.request(origin.url).outcome()
        #expect(long.data == nil && long.response?.statusCode == 200)
        try expectExcess(long.error, of: origin.url)
        for (method, path) in [(HTTPMethod.head, "/"), (.get, "/204")] {
          #expect(await session.request(origin.url + path, method: method).outcome().error == nil)
        }
      }
    }
  }

  private func expectExcess(_ error: AFError?, of url: String, sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    guard case .sessionTaskFailed(let error as URLError)? = error else {
      Issue.record("unexpected error: \(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
    #expect(error.code == .dataLengthExceedsMaximum, sourceLocation: sourceLocation)
    let text = error.localizedDescription
    #expect(text.hasPrefix(url) && text.contains("limit of 100 bytes"), "\(text)", sourceLocation: sourceLocation)
  }
}
