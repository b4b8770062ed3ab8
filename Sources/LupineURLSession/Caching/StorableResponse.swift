// StorableResponse: a complete response that a session's cache stores if the task's delegate agrees.

import Foundation
import LupineCache
import LupineEngine

/// A complete response that the cache stores when `store` is called. If this object is released before, the response isn't stored.
final class StorableResponse: Sendable {
  /// The response that the session proposes to the task's delegate for storing. Its body is decoded (from gzip, for example).
  let proposed: CachedURLResponse
  private let passed: PassedResponse
  private let head: HTTPURLResponse
  private let response: StoredResponse
  private let lead: Lead?
  private let isCollapsible: Bool

  /// Creates the response that was passed on, with its complete body. `lead` notifies the requests that wait for it.
  init(_ passed: PassedResponse, _ body: Data, _ lead: Lead?, isCollapsible: Bool) {
    self.passed = passed
    response = passed.response.withBody(byteCount: UInt64(body.count))
    head = HTTPURLResponse(url: passed.url, response)
    self.lead = lead
    self.isCollapsible = isCollapsible
    proposed = CachedURLResponse(response: head, data: body)
  }

  private var request: CacheRequest { passed.request }
  private var cache: SessionCache { passed.cache }

  /// Whether the response is a redirect (a status code of 300 to 399).
  var isRedirect: Bool { response.isRedirect }

  /// Stores `chosen`, the response that the delegate returned in place of `proposed`, or `proposed` itself. If `chosen` is nil, or
  /// must not be stored, removes the stored responses that this one has made outdated, even those that all sessions share.
  ///
  /// If `isDecided` is true, the program itself has decided to store the response. It is then stored even if the cache can serve it
  /// only to requests that accept responses of any age.
  func store(_ chosen: CachedURLResponse?, isDecided: Bool = false) {
    defer { lead?.end(.stored) }
    guard let chosen, chosen.storagePolicy != .notAllowed else { return refuse() }
    if chosen.response === head, chosen.data.count == proposed.data.count {
      store(chosen, as: response, isDecided: isDecided)
    } else if let changed = chosen.response as? HTTPURLResponse {
      store(chosen, changed, isDecided: isDecided)
    } else {
      refuse()
    }
  }

  /// Stores `chosen`, which the delegate returned in place of `proposed`. `proposed` was created without this object, but its
  /// response has the same head as this object's.
  func store(_ chosen: CachedURLResponse, proposedAs proposed: CachedURLResponse) {
    store(chosen.response === proposed.response ? chosen.with(response: head) : chosen, isDecided: true)
  }

  /// Removes the older response that this one has made outdated. Called if the program's decision prevents storing this one.
  private func refuse() {
    if isCollapsible { cache.note(request.uri.cacheKey, isShared: false) }
    cache.stores.removeOutdated(by: response, to: request)
  }

  /// Stores a response that the delegate has modified, unless RFC 9111 forbids storing the modified response.
  private func store(_ chosen: CachedURLResponse, _ changed: HTTPURLResponse, isDecided: Bool) {
    let (fields, bodyForm) = changed.stored(with: chosen.data)
    let decision = StoreDecision(
      request, status: changed.statusCode, fields: fields, times: response.times, bodyForm: bodyForm)
    guard case .store(let stored) = decision else { return refuse() }
    let new = stored.withBody(byteCount: UInt64(chosen.data.count))
    let content = chosen.with(response: changed.url.map { HTTPURLResponse(url: $0, new) })
    store(content, as: new, isDecided: isDecided)
  }

  /// Whether an unsafe request for the URI has succeeded since this response was requested, so that the response may be outdated.
  private var isInvalidated: Bool {
    cache.stores.invalidations.mayContain(request.uri.cacheKey, after: passed.invalidationCount)
  }

  private func store(_ content: CachedURLResponse, as stored: StoredResponse, isDecided: Bool) {
    guard !isInvalidated else {
      // One of the requests that wait for this response is sent instead, and the others wait for the response to it.
      lead?.end(.canceled)
      return
    }
    if isCollapsible {
      cache.note(request.uri.cacheKey, isShared: request.isServed(by: stored, now: cache.stores.now))
    }
    // Another request was sent and answered while the body of this response, or the decision about it, took time.
    if cache.stores.hasNewer(than: stored, to: request) { return }
    if stored.isPartial, stored.part == nil {
      // The body isn't as long as the Content-Range says, so it is unknown which bytes it contains.
      lead?.end(.failed)
    } else if isDecided || stored.isReusable(under: request.policy) {
      let (content, stored) = combined(content, stored)
      cache.stores.store(content, as: stored, to: request)
      // The unsafe request may have succeeded after the check, and before the response was in the store.
      if isInvalidated { cache.stores.removeAll(for: request.uri.cacheKey) }
    } else {
      cache.stores.removeOutdated(by: stored, to: request)
    }
  }
}

extension StorableResponse {
  /// Combines a 206 with the responses in memory that have other bytes of the same version of the representation. Returns any other
  /// response as it is.
  private func combined(_ content: CachedURLResponse, _ stored: StoredResponse) -> (CachedURLResponse, StoredResponse) {
    guard stored.isPartial, let url = content.response.url else { return (content, stored) }
    var (body, combined, policy) = (content.data, stored, content.storagePolicy)
    for other in cache.stores.foundInMemory(request.uri.cacheKey) {
      guard case .memory(_, let older) = other.body, let combination = combined.combined(with: other.response),
        combination.response.bodyByteCount <= UInt64(cache.stores.responseBytesMax)
      else { continue }
      body = older.data.part(.part(combination.prefix)) + body + older.data.part(.part(combination.suffix))
      combined = combination.response
      if older.storagePolicy != .allowed { policy = older.storagePolicy }
      // Nothing is missing anymore.
      guard combined.isPartial else { break }
    }
    let new = CachedURLResponse(
      response: HTTPURLResponse(url: url, combined), data: body, userInfo: content.userInfo, storagePolicy: policy)
    return (new, combined)
  }
}

extension HTTPURLResponse {
  /// Creates the response that delegates receive from a stored status code and stored fields.
  convenience init(url: URL, _ stored: StoredResponse) {
    self.init(
      url: url, statusCode: stored.status, fields: stored.fields, isContentDecoded: stored.bodyForm == .decoded)
  }

  /// Returns the fields and the form of the body with which a program's response with this body is stored. Programs get decoded
  /// bodies, so the body counts as decoded if there is a Content-Encoding. Otherwise a Content-Length states the body's size, which
  /// the program may have changed.
  func stored(with body: Data) -> (fields: Fields, bodyForm: StoredResponse.BodyForm) {
    guard !isContentDecoded, !fields.contains("Content-Encoding") else { return (fields, .decoded) }
    guard fields.contains("Content-Length") else { return (fields, .received) }
    var corrected = fields
    corrected.remove("Content-Length")
    corrected.append(name: "Content-Length", value: "\(body.count)")
    return (corrected, .received)
  }
}

extension URLError {
  /// Creates the error for a request that only the cache may answer, if no response is cached.
  init(notCached url: URL?) {
    let text = "\(ReadableText.url(url)) isn't cached, and the cache policy forbids loading it. Use another policy."
    self.init(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: text])
  }
}
