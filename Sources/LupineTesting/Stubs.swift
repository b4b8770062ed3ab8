// Stubs: rules that answer a session's requests in place of the network.

import Foundation
public import LupineURLSession
import Synchronization

/// Rules that answer the requests of sessions in place of servers. The stubs also record the requests. No request reaches the
/// network.
///
/// ```swift
/// let stubs = Stubs()
/// stubs.reply(to: .get("/users/7"), with: .json(#"{"name": "Ada"}"#))
/// let session = URLSession(configuration: stubs.configuration())
/// let (data, _) = try await session.data(from: URL(string: "https://api.example.com/users/7")!)
/// ```
///
/// If several rules match a request, the rule that was added last answers it. If no rule matches, the request fails with an
/// ``UnmatchedRequest`` error, which lists the rules that nearly match. Stubs can be used on any thread, and by several sessions.
public final class Stubs: Sendable {
  private struct Rule: Sendable {
    let pattern: RequestPattern
    /// The number of requests that this rule has answered.
    var count = 0
    let reply: @Sendable (RecordedRequest, _ count: Int) -> StubReply
  }

  private struct State: ~Copyable {
    var rules: [Rule] = []
    var requests: [RecordedRequest] = []
  }

  private let state = Mutex(State())

  /// Creates stubs that have no rules yet.
  public init() {}

  /// Returns a configuration for sessions whose requests these stubs answer.
  ///
  /// - Parameter configuration: The configuration to copy, by default an ephemeral one.
  public func configuration(from configuration: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
    let copy = configuration.copy() as? URLSessionConfiguration ?? configuration
    install(in: copy)
    return copy
  }

  /// Makes these stubs answer the requests of all sessions that are created with `configuration` from now on.
  public func install(in configuration: URLSessionConfiguration) {
    configuration.protocolClasses = [StubProtocol.self] + (configuration.protocolClasses ?? [])
    configuration.protocolContext = self
  }

  /// Adds a rule with one or more replies. Consecutive requests that match the pattern get the replies in order. Further requests
  /// get the last reply again.
  public func reply(to pattern: RequestPattern, with first: StubReply, _ others: StubReply...) {
    reply(to: pattern, with: [first] + others)
  }

  /// Adds a rule with the given replies. There must be at least one reply.
  func reply(to pattern: RequestPattern, with replies: [StubReply]) {
    add(Rule(pattern: pattern) { _, count in replies[min(count, replies.count - 1)] })
  }

  /// Adds a rule that calls a closure for each request to determine the reply.
  ///
  /// - Parameters:
  ///   - pattern: The pattern that a request must match.
  ///   - reply: A closure that returns the reply to a request. It is called on a queue that belongs to the request, so calls for
  ///     different requests may be concurrent.
  public func reply(to pattern: RequestPattern, by reply: @escaping @Sendable (RecordedRequest) -> StubReply) {
    add(Rule(pattern: pattern) { request, _ in reply(request) })
  }

  /// The requests that these stubs have received so far, in order of arrival. They include requests that no rule has answered.
  public var requests: [RecordedRequest] { state.withLock { $0.requests } }

  /// Returns the requests that these stubs have received so far and that match `pattern`.
  public func requests(matching pattern: RequestPattern) -> [RecordedRequest] {
    requests.filter { pattern.unmet(by: $0).isEmpty }
  }

  /// Removes all rules and recorded requests.
  public func removeAll() {
    // The rules are released outside the lock, because the deinitializer of an object that a rule owns may use these stubs.
    withExtendedLifetime(state.withLock { exchange(&$0, with: State()) }) {}
  }

  private func add(_ rule: Rule) { state.withLock { $0.rules.append(rule) } }

  /// Records `request`, and returns the reply of the rule that answers it. Throws an `UnmatchedRequest` if no rule matches the
  /// request.
  func answer(_ request: RecordedRequest) throws(UnmatchedRequest) -> StubReply {
    let rules = state.withLock { state in
      state.requests.append(request)
      return state.rules
    }
    // The patterns' conditions may be the caller's code, so they are checked outside the lock.
    guard let index = rules.lastIndex(where: { $0.pattern.unmet(by: request).isEmpty }) else {
      throw UnmatchedRequest(request, patterns: rules.map(\.pattern))
    }
    let count = state.withLock { state in
      guard state.rules.indices.contains(index) else { return 0 }
      defer { state.rules[index].count += 1 }
      return state.rules[index].count
    }
    return rules[index].reply(request, count)
  }
}
