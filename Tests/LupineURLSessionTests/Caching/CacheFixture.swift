// CacheFixture: an origin whose replies the test scripts, a clock that the test sets, and a session with a cache.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import LupineURLSession

/// A clock for a cache, which the test sets.
final class CacheClock: Sendable {
  private let seconds = Atomic(1_700_000_000)

  var now: Date { Date(timeIntervalSince1970: Double(seconds.load(ordering: .relaxed))) }

  func advance(_ count: Int) { seconds.add(count, ordering: .relaxed) }
}

/// A directory that is removed at the end.
final class CacheDirectory: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "lupine-cache-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The paths of the records.
  var records: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { "\(path)/\($0)" }
  }
}

/// An origin with one reply per path, which counts and keeps the requests.
final class ScriptedOrigin: Sendable {
  typealias Script = @Sendable (ReceivedRequest, _ number: Int) throws -> Reply

  private let scripts = Mutex<[String: Script]>([:])
  private let received = Mutex<[ReceivedRequest]>([])

  /// Sets the reply for a path. The script receives the request and the number of earlier requests for the path.
  func on(_ path: String, _ script: @escaping Script) { scripts.withLock { $0[path] = script } }

  /// Sets a reply with text and fields.
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

  /// The requests that have arrived.
  var requests: [ReceivedRequest] { received.withLock { $0 } }
  var count: Int { requests.count }
}

/// A session with a cache, its clock, and an origin.
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

  /// Sends a request and returns the text and the head of its response.
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

  /// Creates another session with the cache.
  func sibling(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    configure(configuration)
    return URLSession(configuration: configuration)
  }
}

/// Calls `body` with a session that has a cache in memory and, if `disk` isn't 0, in files.
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
