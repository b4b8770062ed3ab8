// RevocationFetcher: fetches OCSP responses and revocation lists over plain HTTP, with a dedicated engine.

import Foundation
import LupineEngine
import Synchronization

/// Fetches OCSP responses and revocation lists to check certificates for revocation. Each fetch blocks its thread, so it must not
/// run on the thread of an event loop.
///
/// The fetcher uses only http: OCSP responses and revocation lists are signed, so they need no TLS, and a fetch over https would
/// itself need a revocation check. It doesn't follow redirects.
final class RevocationFetcher: Sendable {
  /// The fetcher for `SecTrust` objects that don't belong to a session.
  static let shared = RevocationFetcher(EngineConfiguration())

  private let configuration: EngineConfiguration
  private let engine = Mutex<Engine?>(nil)
  private let silence = Mutex(SilentServers())

  /// Creates a fetcher with the proxies, resolver, address policy and socket options of a session. The fetcher has a separate
  /// engine, which starts with the first fetch.
  init(_ session: EngineConfiguration) {
    var configuration = EngineConfiguration()
    configuration.proxy = session.proxy
    configuration.resolver = session.resolver
    configuration.addressPolicy = session.addressPolicy
    configuration.socket = session.socket
    configuration.limits = session.limits
    self.configuration = configuration
  }

  /// Fetches a resource. Throws a `RevocationProblem` with the reason if the resource can't be fetched within `seconds`, or is too
  /// large.
  func fetch(_ query: RevocationQuery, seconds: Int) throws(RevocationProblem) -> [UInt8] {
    let request = try Self.request(for: query, seconds: seconds)
    let server = request.uri.origin
    if let problem = silence.withLock({ $0.problem(of: server, now: .now) }) { throw problem }
    let engine = try startedEngine()
    // The request's total time limit also limits this wait.
    let answer = blocking { done in engine.submit(request, to: FetchSink(done)) }
    // If the engine were released earlier, the exchange would end.
    withExtendedLifetime(engine) {}
    silence.withLock { $0.note(answer, of: server, now: .now) }
    switch answer {
    case .response(200, let body): return body
    case .response(let status, _): throw RevocationProblem("its status code is \(status)")
    case .failure(let error): throw RevocationProblem(error.description)
    }
  }

  /// The result of sending one request to a server.
  enum Answer {
    /// The server has sent a response with this status code and body. The body is empty unless the status code is 200.
    case response(status: Int, [UInt8])
    case failure(EngineError)
  }

  private func startedEngine() throws(RevocationProblem) -> Engine {
    do {
      return try engine.withLock { engine throws(SystemError) in
        if let engine { return engine }
        let started = try Engine(configuration: configuration)
        engine = started
        return started
      }
    } catch {
      throw RevocationProblem("the engine can't start: \(error)")
    }
  }

  /// Returns the HTTP request for a resource (RFC 6960 appendix A.1). Throws a `RevocationProblem` if the resource's URL can't be
  /// used.
  static func request(for query: RevocationQuery, seconds: Int) throws(RevocationProblem) -> EngineRequest {
    let url =
      switch query {
      case .response(let url, _), .list(let url): url
      }
    guard let uri = try? URI(url), uri.origin.scheme == .http, uri.origin.socketPath == nil, uri.userInfo == nil else {
      throw RevocationProblem("only http URLs without user information are fetched")
    }
    var request = EngineRequest(
      uri: uri, fields: ["Accept": "*/*", "User-Agent": "Lupine"],
      timeouts: Timeouts(everyPhase: .seconds(seconds), total: .seconds(seconds)))
    request.decodesContent = false
    switch query {
    case .response(_, let content):
      request.method = "POST"
      request.fields.append(name: "Content-Type", value: "application/ocsp-request")
      request.body = RequestBody(content)
      request.bodyBytesMax = RevocationLimits.responseBytesMax
    case .list:
      request.bodyBytesMax = RevocationLimits.listBytesMax
    }
    return request
  }
}

/// Remembers the servers that recently failed to respond, so that later TLS handshakes don't wait for these servers.
struct SilentServers {
  private var servers: [Origin: (until: Instant, problem: RevocationProblem)] = [:]

  /// Returns the reason why no request may be sent to the server now. Returns nil if a request may be sent.
  func problem(of server: Origin, now: Instant) -> RevocationProblem? {
    servers[server].flatMap { now < $0.until ? $0.problem : nil }
  }

  /// Records whether the server has responded. A response with any status code counts, and one whose body is too large too.
  mutating func note(_ answer: RevocationFetcher.Answer, of server: Origin, now: Instant) {
    guard case .failure(let error) = answer, error.code != .bodyTooLarge else {
      servers[server] = nil
      return
    }
    if servers.count >= RevocationLimits.silentServersMax { servers = servers.filter { now < $0.value.until } }
    if servers.count >= RevocationLimits.silentServersMax { servers = [:] }
    let until = now + .seconds(RevocationLimits.silenceSeconds)
    servers[server] = (until, RevocationProblem("it didn't answer a moment ago: \(error.description)"))
  }
}

/// Collects the response to one request, while a thread waits for the response.
private final class FetchSink: ResponseSink {
  private struct State: ~Copyable {
    var status = 0
    var body: [UInt8] = []
  }

  private let state = Mutex(State())
  private let end: @Sendable (RevocationFetcher.Answer) -> Void

  init(_ end: @escaping @Sendable (RevocationFetcher.Answer) -> Void) { self.end = end }

  func receive(head: ResponseHead) -> BodyDisposition {
    state.withLock { $0.status = head.status }
    return head.status == 200 ? .deliver : .discard
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { $0.body.append(copying: bytes, 0..<bytes.count) }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    switch result {
    case .success: end(state.withLock { .response(status: $0.status, $0.body) })
    case .failure(let error): end(.failure(error))
    }
  }
}

extension RevocationChecker {
  /// Creates a checker that fetches resources with `fetcher`. All checkers share one cache of verified statuses.
  init(fetcher: RevocationFetcher) {
    self.init(memory: .shared, clock: { Int(Date().timeIntervalSince1970) }) {
      query, seconds throws(RevocationProblem) in
      try fetcher.fetch(query, seconds: seconds)
    }
  }
}
