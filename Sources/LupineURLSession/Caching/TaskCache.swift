// TaskCache: the object through which one task uses its session's cache.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// Connects one task with its session's cache. Tasks of a session without a cache don't have this object.
final class TaskCache: Sendable {
  /// Whether the cache answers a task's requests. With either value, a request with an unsafe method, such as POST, invalidates
  /// stored responses.
  enum Scope {
    /// The cache answers the task's requests. Used for data tasks.
    case requests
    /// The cache doesn't answer the task's requests. Used for downloads and uploads.
    case invalidation
  }

  private struct State {
    var storable: StorableResponse?
    var isServed = false
  }

  private let session: SessionCache
  private let scope: Scope
  private let state = Mutex(State())

  init(_ session: SessionCache, _ scope: Scope) {
    self.session = session
    self.scope = scope
  }

  /// Whether the task's latest response comes from the cache instead of the origin.
  var isServed: Bool { state.withLock { $0.isServed } }

  /// Records that the task receives a new response, and whether it comes from the cache. Discards the task's previous response if
  /// that response hasn't been stored.
  func note(isServed: Bool) {
    let old = state.withLock { state in
      defer { state = State(isServed: isServed) }
      return state.storable
    }
    // The previous response is released outside the lock, because its release may wake requests that wait for it.
    _ = old
  }

  func keep(_ storable: StorableResponse) { state.withLock { $0.storable = storable } }

  /// Stores the latest response if it is a complete redirect whose body isn't too long. Called before the task sends its next
  /// request. The delegate isn't asked, because a redirect isn't the task's final response. Other responses that aren't final, such
  /// as a 401 after which the task sends a credential, aren't stored.
  func storeRedirect() {
    guard let storable = takeStorable(), storable.isRedirect else { return }
    // A longer body is received completely only if it arrives before the task follows the redirect. Time must not decide.
    let isShort = storable.proposed.data.count <= NetworkExchange.unwantedBytesMax
    storable.store(isShort ? storable.proposed : nil)
  }

  /// Returns the complete response that the cache can store, and forgets it. Returns nil if there is none.
  func takeStorable() -> StorableResponse? { state.withLock { $0.storable.take() } }

  func invalidate(after head: ResponseHead, to request: EngineRequest) { session.invalidate(after: head, to: request) }

  /// Returns an exchange that answers the request from the cache if possible. Returns nil if the request bypasses the cache.
  /// `digest` is the number of the session's Digest authentication that has computed the request's proof, or nil.
  func exchange(
    for request: EngineRequest, from urlRequest: URLRequest, digest: UInt64?,
    _ settings: URLSessionConfiguration.Snapshot,
    through upstream: any CacheUpstream, windowBytes: Int, isStreamed: Bool, receiver: any CacheReceiver
  ) -> CacheExchange? {
    guard scope == .requests, request.method == "GET" || request.method == "HEAD", request.body.isEmpty,
      !request.fields.contains("Upgrade"), !request.hasOwnServer
    else { return nil }
    let cached = session.request(
      request, policy: urlRequest.explicitCachePolicy ?? settings.cachePolicy,
      ownCookie: urlRequest.fields.first("Cookie"), digest: digest, identity: settings.engine.tls.identity,
      secretFields: settings.redirectRule.secretFields)
    return CacheExchange(
      cached, request, url: urlRequest.url, cache: session, upstream: upstream, windowBytes: windowBytes,
      isStreamed: isStreamed, receiver: receiver)
  }
}

extension EngineRequest {
  /// Whether the request may be sent to a different server than other requests for the same URL, because of its settings or its
  /// Host field. Such a request bypasses the cache, which finds responses by URL.
  fileprivate var hasOwnServer: Bool {
    // The engine sends the Host field in place of the URL's host (RFC 9110 §7.2).
    if fields.contains("Host") { return true }
    guard let connection else { return false }
    return connection.tls != nil || connection.proxy != nil || !connection.hostOverrides.isEmpty
  }
}
