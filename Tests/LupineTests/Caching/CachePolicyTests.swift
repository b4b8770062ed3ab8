// Cache policies and the fields that they send.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct CachePolicyTests {
  @Test(
    "cache policies that permit loading from the server add no Cache-Control or Pragma field to the request",
    arguments: [
      .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad, .reloadRevalidatingCacheData,
    ] as [URLRequest.CachePolicy])
  func loads(policy: URLRequest.CachePolicy) async throws {
    #expect(try await cacheFields(of: policy) == "none none")
  }

  @Test("reloadIgnoringLocalAndRemoteCacheData adds fields with no-cache, unless the request contains such fields")
  func ignoresRemote() async throws {
    #expect(try await cacheFields(of: .reloadIgnoringLocalAndRemoteCacheData) == "no-cache no-cache")
    #expect(
      try await cacheFields(of: .reloadIgnoringLocalAndRemoteCacheData, ["Cache-Control": "max-age=0"])
        == "max-age=0 no-cache")
  }

  @Test("returnCacheDataDontLoad fails without sending a request if there is no stored response")
  func dontLoad() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let url = try #require(URL(string: origin.url))
        let response = await session.request(URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad)).outcome()
        #expect((response.error?.underlyingError as? URLError)?.code == .resourceUnavailable)
        #expect(response.response == nil && origin.connectionCount == 0)
      }
    }
  }

  @Test("the session's cache policy applies to requests that don't set a cache policy")
  func ofTheSession() async throws {
    let configuration = URLSessionConfiguration.forTests
    configuration.requestCachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    #expect(try await cacheFields(of: nil, in: configuration) == "no-cache no-cache")
    #expect(try await cacheFields(of: .useProtocolCachePolicy, in: configuration) == "none none")
  }

  @Test(
    "a cached-response handler is called only for responses that a cache may store",
    arguments: [
      (200, nil, true), (206, "private, max-age=60", true), (200, "x-no-store=1", true),
      (200, "private, No-Store", false),
      (404, nil, false),
    ] as [(Int, String?, Bool)])
  func storable(status: Int, cacheControl: String?, isAsked: Bool) async throws {
    try await withServer { _ in
      Reply(status: status, fields: cacheControl.map { ["Cache-Control": $0] } ?? [:], .bytes([1]))
    } _: { origin in
      try await withSession { session in
        let asked = Atomic(0)
        let cacher = ResponseCacher.modify { _, response in
          asked.add(1, ordering: .relaxed)
          return response
        }
        let response = await session.request(origin.url).cacheResponse(using: cacher).outcome()
        #expect(response.response?.statusCode == status)
        #expect(asked.load(ordering: .relaxed) == (isAsked ? 1 : 0))
      }
    }
  }

  @Test("a request created with a cache policy but without a timeout uses the session's timeout")
  func timeouts() throws {
    let url = try #require(URL(string: "http://localhost"))
    #expect(URLRequest(url: url, cachePolicy: .returnCacheDataElseLoad).explicitTimeoutInterval == nil)
    let request = URLRequest(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 7)
    #expect(request.timeoutInterval == 7 && request.cachePolicy == .returnCacheDataElseLoad)
    #expect(URLRequest(url: url).cachePolicy == .useProtocolCachePolicy)
  }

  private func cacheFields(
    of policy: URLRequest.CachePolicy?, _ headers: HTTPHeaders = [:],
    in configuration: URLSessionConfiguration = .forTests
  ) async throws -> String {
    try await withServer { request in
      .text("\(request.fields.first("cache-control") ?? "none") \(request.fields.first("pragma") ?? "none")")
    } _: { origin in
      try await keeping(Session(configuration: configuration)) { session in
        var request = try URLRequest(url: origin.url, method: .get, headers: headers)
        if let policy { request.cachePolicy = policy }
        return try await session.request(request).serializingString().value
      }
    }
  }
}
