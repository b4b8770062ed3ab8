// CacheServerTests: sessions with a cache and real servers, whose entity tags and dates validate stored responses.

import Foundation
import LupineEngine
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CacheServerTests {
  private func makeSession() -> Session { Session(configuration: .af.ephemeral) }

  private func response(
    _ url: String, policy: URLRequest.CachePolicy = .useProtocolCachePolicy, _ headers: HTTPHeaders = [:],
    in session: Session
  ) async throws -> AFDataResponse<Data> {
    var request = try URLRequest(url: url, method: .get, headers: headers)
    request.cachePolicy = policy
    return await session.request(request).serializingData().response
  }

  @Test(
    "a stored page is revalidated with a 304, or loaded again if the server doesn't recognize the page's entity tag",
    arguments: [TestServer.nginx, .apache, .caddy])
  func validation(server: TestServer) async throws {
    try server.require()
    for coding in ["identity", "gzip"] {
      let headers: HTTPHeaders = ["Accept-Encoding": coding]
      // nginx answers the weak entity tag of the gzip page with a 304 that has the strong tag of the uncoded page. That 304
      // confirms the stored gzip page, but doesn't update its fields (RFC 9111 §4.3.4). Apache doesn't recognize the tag that
      // it sent for its gzip page.
      let isConfirmed = coding == "identity" || server != .apache
      // Each coding has a separate cache, because nginx sends a 304 for the uncoded page even to clients that accept gzip.
      try await keeping(makeSession()) { session async throws in
        let url = server.origin + "/text.txt"
        let first = try await response(url, headers, in: session)
        let body = try first.result.get()
        let again = try await response(url, policy: .reloadRevalidatingCacheData, headers, in: session)
        #expect(try again.result.get() == body && again.response?.statusCode == 200)
        let transaction = try #require(again.metrics?.transactionMetrics.last)
        #expect(transaction.resourceFetchType == .networkLoad)
        // Only a 304 has no body.
        #expect((transaction.countOfResponseBodyBytesReceived == 0) == isConfirmed, "\(server) \(coding)")
        let stored = try await response(url, policy: .returnCacheDataDontLoad, headers, in: session)
        #expect(try stored.result.get() == body)
        #expect(stored.metrics?.transactionMetrics.last?.resourceFetchType == .localCache)
      }
    }
  }

  @Test(
    "after a PUT replaces a page, the cache loads the new page, and after a DELETE, the cache doesn't store the 404")
  func changed() async throws {
    let url = try await TestServers.nginx + "/uploads/cache-\(UUID().uuidString)"
    try await keeping(makeSession()) { session async throws in
      for text in ["one", "two"] {
        let put = await session.upload(Data(text.utf8), to: url, method: .put).serializingData(
          emptyResponseCodes: [201, 204]
        ).response
        #expect(put.response.map { (200..<300).contains($0.statusCode) } == true)
        #expect(try await response(url, in: session).result.get() == Data(text.utf8))
        #expect(try await response(url, policy: .returnCacheDataDontLoad, in: session).result.get() == Data(text.utf8))
      }
      _ = await session.request(url, method: .delete).serializingData(emptyResponseCodes: [204]).response
      #expect(try await response(url, in: session).response?.statusCode == 404)
      #expect(try await response(url, policy: .returnCacheDataDontLoad, in: session).response == nil)
    }
  }

  @Test("httpbin's responses are stored for as long as their Cache-Control permits")
  func lifetimes() async throws {
    let base = try await TestServers.httpbin
    try await keeping(makeSession()) { session async throws in
      for (path, isServed) in [("/cache/60", true), ("/response-headers?Cache-Control=no-store", false)] {
        _ = try await response(base + path, in: session).result.get()
        let second = try await response(base + path, in: session)
        #expect((second.metrics?.transactionMetrics.last?.resourceFetchType == .localCache) == isServed, "\(path)")
      }
    }
  }
}
