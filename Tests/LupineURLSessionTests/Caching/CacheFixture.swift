// CacheFixture: an origin whose replies the test scripts, a clock that the test sets, and a session with a cache.

import Foundation
import LupineCache
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import LupineURLSession

/// A clock for a URLCache. The test advances its time.
final class CacheClock: Sendable {
  private let seconds = Atomic(1_700_000_000)

  var now: Date { Date(timeIntervalSince1970: Double(seconds.load(ordering: .relaxed))) }

  func advance(_ count: Int) { seconds.add(count, ordering: .relaxed) }
}

/// A temporary directory for the files of a URLCache. It is deleted with this object.
final class CacheDirectory: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "lupine-cache-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The paths of the cache files, one for each stored response.
  var records: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0.hasSuffix(".lupine") }
      .sorted().map { "\(path)/\($0)" }
  }
}

/// A mock origin that answers each path with a reply that the test sets, and records the requests.
final class ScriptedOrigin: Sendable {
  typealias Script = @Sendable (ReceivedRequest, _ number: Int) throws -> Reply

  private let scripts = Mutex<[String: Script]>([:])
  private let received = Mutex<[ReceivedRequest]>([])

  /// Sets the script that creates the replies for a path. It receives the request, and the number of earlier requests for the
  /// path.
  func on(_ path: String, _ script: @escaping Script) { scripts.withLock { $0[path] = script } }

  /// Sets the reply for a path: its body's text, its header fields and its status code.
  func on(_ path: String, _ text: String, _ fields: Fields = ["Cache-Control": "max-age=60"], status: Int = 200) {
    on(path) { _, _ in Reply(status: status, fields: fields, .bytes(Array(text.utf8))) }
  }

  func reply(to request: ReceivedRequest) throws -> Reply {
    let number = received.withLock { received in
      received.append(request)
      return received.count { $0.path == request.path } - 1
    }
    guard let script = scripts.withLock({ $0[request.path] }) else { return .text("no script", status: 500) }
    return try script(request, number)
  }

  /// The requests that the origin has received, oldest first.
  var requests: [ReceivedRequest] { received.withLock { $0 } }
  var count: Int { requests.count }
}

/// In tests of keyed tables, a text is the host of the origin whose key it makes.
extension CacheKey: ExpressibleByStringInterpolation {
  package init(stringLiteral host: String) {
    self = URI(Origin(scheme: .http, host: host, port: 80)).cacheKey
  }
}

extension URLCache {
  /// Stores a stale response to the request. Only requests for a URL with a stored response wait for each other.
  func storeStale(for request: URLRequest) throws {
    let url = try #require(request.url)
    let head = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=0"]))
    storeCachedResponse(CachedURLResponse(response: head, data: Data("stale".utf8)), for: request)
  }
}

/// A session with a URLCache, the cache's clock and directory, and a mock origin.
struct CacheFixture: Sendable {
  let script: ScriptedOrigin
  let origin: OriginServer
  let clock: CacheClock
  let directory: CacheDirectory
  let cache: URLCache
  let session: URLSession

  func request(
    _ path: String = "/a", _ fields: [String: String] = [:], _ method: String = "GET",
    policy: URLRequest.CachePolicy? = nil
  ) -> URLRequest {
    var request = origin.request(path, method)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    if let policy { request.cachePolicy = policy }
    return request
  }

  /// Sends a request to the mock origin, and returns the response's text and head. The response may come from the cache.
  @discardableResult
  func load(
    _ path: String = "/a", _ fields: [String: String] = [:], _ method: String = "GET",
    policy: URLRequest.CachePolicy? = nil, in other: URLSession? = nil
  ) async throws -> (text: String, head: HTTPURLResponse) {
    let request = request(path, fields, method, policy: policy)
    let (data, response) = try await (other ?? session).data(for: request)
    guard let head = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (String(decoding: data, as: UTF8.self), head)
  }

  /// Returns another session that uses the same URLCache.
  func sibling(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    configure(configuration)
    return URLSession(configuration: configuration)
  }
}

/// Calls `body` with a session whose cache has these capacities in bytes, and with a mock origin. With a disk capacity of 0, the
/// cache stores responses only in memory.
func withCache<Value>(
  memory: Int = 10_000_000, disk: Int = 0, delegate: (any URLSessionDelegate)? = nil,
  _ configure: (URLSessionConfiguration) -> Void = { _ in }, _ body: (CacheFixture) async throws -> Value
) async throws -> Value {
  let script = ScriptedOrigin()
  return try await withServer {
    try script.reply(to: $0)
  } _: { origin in
    let (clock, directory) = (CacheClock(), CacheDirectory())
    let cache = URLCache(memoryCapacity: memory, diskCapacity: disk, folder: directory.path) { clock.now }
    return try await withSession(
      delegate: delegate,
      { configuration in
        configuration.urlCache = cache
        configure(configuration)
      },
      { session in
        try await body(
          CacheFixture(
            script: script, origin: origin, clock: clock, directory: directory, cache: cache, session: session))
      })
  }
}
