// Messages: requests and stored responses for the tests, written as field lines.

import LupineWire

@testable import LupineCache

/// The time at which tests receive responses, in seconds since 1970: Tue, 14 Nov 2023 22:13:20 GMT.
let start: Int64 = 1_700_000_000

/// Returns the date `seconds` after `start` as an HTTP-date.
func date(_ seconds: Int64 = 0) -> String { HTTPDate(secondsSince1970: start + seconds)?.description ?? "" }

extension Fields {
  /// Creates fields from field lines such as `Age: 3`.
  init(_ lines: [String]) {
    self.init()
    for line in lines {
      let name = line.prefix { $0 != ":" }
      append(name: String(name), value: String(line.dropFirst(name.count + 1).drop { $0 == " " }))
    }
  }
}

extension CacheRequest {
  /// Creates a GET request for `https://origin.test/page` with the given field lines.
  static func get(
    _ lines: [String] = [], _ path: String = "/page", method: String = "GET", policy: CachePolicy = .automatic,
    session: String = "first"
  ) throws -> CacheRequest {
    var request = CacheRequest(
      method: method, uri: try URI("https://origin.test\(path)"), fields: Fields(lines), session: session)
    request.policy = policy
    return request
  }
}

extension StoreDecision {
  /// Returns the cache's decision whether to store a response that is received `seconds` after `start`. The request was sent
  /// `delay` seconds before.
  static func decide(
    _ lines: [String], status: Int = 200, to request: CacheRequest, at seconds: Int64 = 0, delay: Int64 = 0
  ) -> StoreDecision {
    StoreDecision(
      request, status: status, fields: Fields(lines),
      times: ExchangeTimes(request: start + seconds - delay, response: start + seconds))
  }

  var stored: StoredResponse? { if case .store(let response) = self { response } else { nil } }
  var refusal: Refusal? { if case .refuse(let refusal) = self { refusal } else { nil } }
}

/// The error that `stored` throws if the cache refuses to store the response that a test needs.
struct NotStored: Error { let refusal: StoreDecision.Refusal? }

/// Returns the response that the cache stores for the given field lines of a response with a body of 1000 bytes.
func stored(
  _ lines: [String], status: Int = 200, to request: CacheRequest? = nil, at seconds: Int64 = 0, delay: Int64 = 0
) throws -> StoredResponse {
  let decision = StoreDecision.decide(
    lines, status: status, to: try request ?? .get(), at: seconds, delay: delay)
  guard let response = decision.stored else { throw NotStored(refusal: decision.refusal) }
  return response.withBody(byteCount: 1000)
}

extension CacheDecision {
  static func decide(_ request: CacheRequest, _ stored: [StoredResponse], at seconds: Int64) -> CacheDecision {
    CacheDecision(request, stored: stored, now: start + seconds)
  }

  var hit: CacheHit? {
    switch self {
    case .serve(let hit), .serveWhileRevalidating(let hit, _): hit
    case .forward, .gatewayTimeout: nil
    }
  }

  var forwarding: Forwarding? {
    switch self {
    case .forward(let forwarding), .serveWhileRevalidating(_, let forwarding): forwarding
    case .serve, .gatewayTimeout: nil
    }
  }

  /// A short text for the decision, used in the tests' tables, such as "fresh" or "forward: stale".
  var word: String {
    switch self {
    case .serve(let hit): "\(hit.reason)"
    case .serveWhileRevalidating: "staleWhileRevalidate"
    case .forward(let forwarding): "forward: \(forwarding.reason)"
    case .gatewayTimeout: "gatewayTimeout"
    }
  }
}

extension ForwardingOutcome {
  /// Returns the cache's reaction to the origin's response, which arrives `seconds` after `start`.
  static func answer(
    _ status: Int, _ lines: [String], to request: CacheRequest, _ stored: [StoredResponse], at seconds: Int64
  ) throws -> ForwardingOutcome? {
    guard let forwarding = CacheDecision.decide(request, stored, at: seconds).forwarding else { return nil }
    return ForwardingOutcome(
      of: forwarding, for: request, stored: stored, status: status, fields: Fields(lines),
      times: ExchangeTimes(request: start + seconds, response: start + seconds))
  }

  var replacement: StoredResponse? {
    for case .replace(let response) in updates.map(\.change) { return response }
    return nil
  }

  /// The index of the stored response that the cache serves after the origin's response, and the response that the caller receives.
  /// Nil if the cache serves no stored response.
  var served: (index: Int, response: ServedResponse)? {
    switch answer {
    case .serveValidated(let index, let response), .serveStale(let index, let response): (index, response)
    case .passOn, .sendWithoutConditions: nil
    }
  }
}
