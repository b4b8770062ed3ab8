// CachingTests: responses of real servers that a session's cache stores, validates, serves and removes.

import Foundation
import LupineEngine
import LupineTestSupport
import LupineURLSession
import Testing

@Suite("Caching of real servers", .timeLimit(.minutes(10)))
struct CachingTests {
  private let cache: URLCache
  private let session: URLSession

  init() {
    cache = URLCache(memoryCapacity: 50_000_000, diskCapacity: 0)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    configuration.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    configuration.engine.proxy = .none
    session = URLSession(configuration: configuration)
  }

  private struct Loaded {
    let text: String
    let head: HTTPURLResponse
    let isFromCache: Bool
    /// The number of bytes of the response body that have arrived from the server.
    let receivedByteCount: Int64
  }

  private func load(
    _ server: Server, _ path: String, _ fields: [String: String] = [:],
    policy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) async throws -> Loaded {
    let address = try await server.url(path)
    var request = URLRequest(url: try #require(URL(string: address)))
    request.cachePolicy = policy
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let observer = TransactionObserver()
    let (data, response) = try await session.data(for: request, delegate: observer)
    let last = await observer.last()
    let transaction = try #require(last)
    return Loaded(
      text: String(decoding: data, as: UTF8.self), head: try #require(response as? HTTPURLResponse),
      isFromCache: transaction.isFromCache, receivedByteCount: transaction.receivedByteCount)
  }

  struct Page: Sendable, CustomTestStringConvertible {
    let server: TestServer
    let path: String
    var fields: [String: String] = [:]

    var text: String { path == "/small.txt" ? "small\n" : TextPage.text }
    var testDescription: String { "\(server)\(path) \(fields)" }
  }

  private static let pages = [
    Page(server: .nginx, path: "/small.txt"), Page(server: .caddy, path: "/small.txt"),
    // nginx weakens the entity tags of compressed responses, but not of responses with 304.
    Page(server: .nginx, path: "/text.txt", fields: ["Accept-Encoding": "gzip"]),
    Page(server: .nginxTLS, path: "/text.txt", fields: ["Accept-Encoding": "br"]),
    Page(server: .haproxy, path: "/text.txt"),
    // Apache changes the entity tags of compressed responses, and doesn't recognize them in conditions.
    Page(server: .apache, path: "/small.txt", fields: ["Accept-Encoding": "identity"]),
    Page(server: .apacheTLS, path: "/text.txt", fields: ["Accept-Encoding": "identity"]),
  ]

  @Test("after a server has confirmed a stored page with a 304, the cache serves the page", arguments: pages)
  func validation(page: Page) async throws {
    let first = try await load(page.server, page.path, page.fields)
    #expect(first.text == page.text && first.receivedByteCount > 0 && !first.isFromCache)
    let confirmed = try await load(page.server, page.path, page.fields, policy: .reloadRevalidatingCacheData)
    #expect(confirmed.text == page.text && confirmed.head.statusCode == 200)
    #expect(confirmed.receivedByteCount == 0 && !confirmed.isFromCache)
    let stored = try await load(page.server, page.path, page.fields, policy: .returnCacheDataDontLoad)
    #expect(stored.text == page.text && stored.isFromCache)
    #expect(stored.head.value(forHTTPHeaderField: "Age") != nil)
  }

  // Debian's caddy has the same strong entity tag for both variants, so its 304 can confirm the wrong one.
  @Test(
    "the cache stores the compressed and the plain variant of a page separately", arguments: [Server.nginx, .apache])
  func variants(server: Server) async throws {
    let codings = ["gzip", "identity"]
    for policy in [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataDontLoad] {
      for coding in codings {
        let loaded = try await load(server, "/text.txt", ["Accept-Encoding": coding], policy: policy)
        #expect(loaded.text == TextPage.text)
        #expect(loaded.head.value(forHTTPHeaderField: "Content-Encoding") == (coding == "gzip" ? "gzip" : nil))
        #expect(loaded.isFromCache == (policy == .returnCacheDataDontLoad))
      }
    }
  }

  @Test(
    "the cache serves a range of a complete stored response exactly as the server would",
    arguments: [Server.nginx, .apache, .caddy])
  func ranges(server: Server) async throws {
    let fields = ["Accept-Encoding": "identity", "Range": "bytes=100-299"]
    let received = try await load(server, "/text.txt", fields)
    #expect(received.head.statusCode == 206 && !received.isFromCache)
    let repeated = try await load(server, "/text.txt", fields, policy: .returnCacheDataDontLoad)
    #expect(repeated.isFromCache && repeated.head.statusCode == 206 && repeated.text == received.text)
    // The rest is requested, and combined with the stored part.
    let whole = try await load(server, "/text.txt", ["Accept-Encoding": "identity"])
    #expect(whole.head.statusCode == 200 && whole.text == TextPage.text)
    let served = try await load(server, "/text.txt", fields, policy: .returnCacheDataDontLoad)
    #expect(served.isFromCache && served.head.statusCode == 206 && served.text == received.text)
    for name in ["Content-Range", "Content-Length", "ETag"] {
      #expect(served.head.value(forHTTPHeaderField: name) == received.head.value(forHTTPHeaderField: name), "\(name)")
    }
  }

  @Test("the cache serves a page that httpbin declares fresh without a connection")
  func fresh() async throws {
    let first = try await load(.httpbin, "/cache/600")
    let second = try await load(.httpbin, "/cache/600")
    #expect(!first.isFromCache && second.isFromCache && second.text == first.text)
    let third = try await load(.httpbin, "/cache/600", ["Cache-Control": "no-cache"])
    #expect(!third.isFromCache)
  }

  @Test("after an upload has replaced a file on nginx, the cache doesn't serve the file's old content")
  func invalidation() async throws {
    let path = "/uploads/cached-\(UUID().uuidString)"
    let address = try await Server.nginx.url(path)
    var put = URLRequest(url: try #require(URL(string: address)))
    put.httpMethod = "PUT"
    for content in ["one", "two"] {
      _ = try await session.upload(for: put, from: Data(content.utf8))
      for isFromCache in [false, true] {
        let loaded = try await load(.nginx, path, policy: .returnCacheDataElseLoad)
        #expect(loaded.text == content && loaded.isFromCache == isFromCache)
      }
    }
    var delete = put
    delete.httpMethod = "DELETE"
    _ = try await session.data(for: delete)
  }
}

/// A task delegate that records the last transaction of the task's metrics.
private final class TransactionObserver: NSObject, URLSessionTaskDelegate, Sendable {
  struct Transaction: Sendable {
    let isFromCache: Bool
    let receivedByteCount: Int64
  }

  private let transactions: AsyncStream<Transaction>
  private let continuation: AsyncStream<Transaction>.Continuation

  override init() {
    (transactions, continuation) = AsyncStream.makeStream()
    super.init()
  }

  /// Waits for the task's metrics, and returns their last transaction.
  func last() async -> Transaction? { await transactions.first { _ in true } }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    if let last = metrics.transactionMetrics.last {
      continuation.yield(
        Transaction(
          isFromCache: last.resourceFetchType == .localCache,
          receivedByteCount: last.countOfResponseBodyBytesReceived))
    }
    continuation.finish()
  }
}
