// Metrics of a task: the order of phases, the connection, and byte counts.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct MetricsTests {
  @Test("isProxyConnection is true only for a request through a proxy")
  func proxy() async throws {
    try await withServer { _ in
      .text("here")
    } _: { proxy in
      for isProxied in [true, false] {
        let settings: ProxySettings = isProxied ? .fixed(try Proxy(proxy.url)) : .none
        try await withSession {
          $0.engine.proxy = settings
        } _: { session in
          let url = isProxied ? "http://example.test/" : proxy.url
          let transaction = await session.request(url).outcome().metrics?.transactionMetrics.first
          #expect(transaction?.isProxyConnection == isProxied)
          #expect((transaction?.response as? HTTPURLResponse)?.statusCode == 200)
        }
      }
    }
  }

  @Test(
    "the dates in a task's metrics, from the lookup to the response, are in order and within the task's interval")
  func phases() async throws {
    let url = try await TestServers.TLS.good.url + "/text.txt"
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
    } _: { session in
      let before = Date()
      let response = await session.request(url).outcome()
      let after = Date()
      let metrics = try #require(response.metrics)
      let transaction = try #require(metrics.transactionMetrics.first)
      let dates = [
        transaction.fetchStartDate, transaction.domainLookupStartDate, transaction.domainLookupEndDate,
        transaction.connectStartDate, transaction.secureConnectionStartDate, transaction.secureConnectionEndDate,
        transaction.connectEndDate, transaction.requestStartDate, transaction.requestEndDate,
        transaction.responseStartDate, transaction.responseEndDate,
      ]
      let known = dates.compactMap(\.self)
      #expect(known.count == dates.count)
      #expect(known == known.sorted())
      #expect(metrics.taskInterval.start == known.first)
      #expect(metrics.taskInterval.end >= known[known.count - 1])
      // The wall clock may be adjusted during the test. The phases are measured by a monotonic clock.
      #expect(metrics.taskInterval.start.timeIntervalSince(before) > -1)
      #expect(metrics.taskInterval.end.timeIntervalSince(after) < 1)
      #expect(metrics.taskInterval.duration > 0)

      #expect(metrics.transactionMetrics.count == 1 && metrics.redirectCount == 0)
      #expect(!transaction.isReusedConnection && transaction.networkProtocolName == "http/1.1")
      #expect(transaction.remotePort == 28443 && transaction.localPort ?? 0 > 0)
      #expect(["127.0.0.1", "::1"].contains(transaction.remoteAddress))
      #expect(transaction.localAddress == transaction.remoteAddress)
      #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13)
      #expect(transaction.negotiatedTLSCipherSuite != nil)
      #expect(transaction.resourceFetchType == .networkLoad)
      #expect(transaction.request.url?.absoluteString == url)
      #expect((transaction.response as? HTTPURLResponse)?.statusCode == 200)
    }
  }

  @Test("the properties of metrics that Linux can't provide, such as isMultipath, are unknown or false")
  func network() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let transaction = try #require(await session.request(origin.url).outcome().metrics?.transactionMetrics.first)
        #expect(transaction.domainResolutionProtocol == .unknown)
        #expect(!transaction.isCellular && !transaction.isExpensive && !transaction.isConstrained)
        #expect(!transaction.isMultipath)
        #expect(transaction.resourceFetchType == .networkLoad)
      }
    }
  }

  @Test(
    "the enums in metrics have Foundation's raw values, and the raw values of TLS versions are the protocol's numbers")
  func numbers() {
    let protocols: [URLSessionTaskMetrics.DomainResolutionProtocol] = [.unknown, .udp, .tcp, .tls, .https]
    #expect(protocols.map(\.rawValue) == [0, 1, 2, 3, 4])
    let types = (0...4).map { URLSessionTaskMetrics.ResourceFetchType(rawValue: $0) }
    #expect(types[0] == .unknown && types[1] == .networkLoad && types[3] == .localCache)
    #expect(types[2] != nil && types[4] == nil)
    // RFC 8446 §4.2.1; DTLS versions count downward (RFC 6347 §4.1).
    let versions: [tls_protocol_version_t] = [.TLSv10, .TLSv11, .TLSv12, .TLSv13, .DTLSv10, .DTLSv12]
    #expect(versions.map(\.rawValue) == [0x0301, 0x0302, 0x0303, 0x0304, 0xFEFF, 0xFEFD])
  }

  @Test("the metrics of a TLS 1.2 connection contain its version and cipher suite")
  func oldTLS() async throws {
    let url = try await TestServers.TLS.good.url + "/json"
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
      $0.engine.tls.maximumVersion = .v1_2
    } _: { session in
      let transaction = try #require(await session.request(url).outcome().metrics?.transactionMetrics.first)
      #expect(transaction.negotiatedTLSProtocolVersion == .TLSv12)
      // The cipher suites of TLS 1.2 with ECDHE and AEAD have numbers in this range (RFC 5289, RFC 7905).
      #expect(transaction.negotiatedTLSCipherSuite.map { 0xC02B...0xCCA9 ~= $0.rawValue } == true)
    }
  }

  @Test("the metrics of a request on a reused connection contain no dates for lookup, connection and TLS")
  func reuse() async throws {
    let url = try await TestServers.TLS.good.url + "/json"
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
    } _: { session in
      let first = try #require(await session.request(url).outcome().metrics?.transactionMetrics.first)
      let second = try #require(await session.request(url).outcome().metrics?.transactionMetrics.first)
      #expect(!first.isReusedConnection && second.isReusedConnection)
      #expect(first.localPort == second.localPort)
      #expect(second.domainLookupStartDate == nil && second.domainLookupEndDate == nil)
      #expect(second.connectStartDate == nil && second.connectEndDate == nil)
      #expect(second.secureConnectionStartDate == nil && second.secureConnectionEndDate == nil)
      #expect(second.requestStartDate != nil && second.responseEndDate != nil)
      #expect(second.negotiatedTLSProtocolVersion == first.negotiatedTLSProtocolVersion)
    }
  }

  @Test("the metrics count the bytes of heads and bodies, and count a response's body both before and after decoding")
  func bytes() async throws {
    try await withServer { request in
      .json(["head": .number(request.rawHead.count), "body": .number(request.body.count)], coding: .gzip)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url, method: .post, parameters: ["a": String(repeating: "b", count: 500)])
        let response = await request.serializingDecodable([String: Int64].self).response
        let transaction = try #require(response.metrics?.transactionMetrics.first)
        let value = try #require(response.value)
        #expect(transaction.countOfRequestHeaderBytesSent == value["head"])
        #expect(transaction.countOfRequestBodyBytesSent == 502 && value["body"] == 502)
        #expect(transaction.countOfRequestBodyBytesBeforeEncoding == 502)
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == response.data.map { Int64($0.count) })
        let length = response.response?.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        #expect(transaction.countOfResponseBodyBytesReceived == length)
        #expect(transaction.countOfResponseHeaderBytesReceived > 60)
      }
    }
  }
}
