// PassedResponse: an origin's response that is passed on to a task, and that the cache stores once it is complete.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// An origin's response that is passed on to a task while its body is received, and that the cache stores once it is complete.
final class PassedResponse: Sendable {
  /// The maximum size, in bytes, of a redirect's body that is read only so that the redirect can be stored, although the task
  /// doesn't accept the body: 64 KiB. The engine has the same limit for all bodies that it reads and discards
  /// (`EngineConfiguration.drainedBytesMax`).
  static let unwantedBytesMax = 64 * 1024
  /// The maximum time, in milliseconds, for reading a redirect's body only so that the redirect can be stored, although the task
  /// doesn't accept the body: 1,000. Afterward, the engine reads and discards the body for at most another second.
  static let unwantedMillisecondsMax = 1_000

  private struct State: ~Copyable {
    var body: Data
    /// The maximum size of the body in bytes.
    var byteCountMax: Int
    var isWanted = true
  }

  /// The metadata with which the response will be stored.
  let response: StoredResponse
  let request: CacheRequest
  let url: URL
  let cache: SessionCache
  /// The number of invalidations in the cache's log when the request was sent.
  let invalidationCount: UInt64
  private let state: Mutex<State>

  /// Creates a response whose body begins with `prefix`, and is stored if it has at most `byteCountMax` bytes.
  init(
    _ response: StoredResponse, to request: CacheRequest, at url: URL, _ cache: SessionCache, byteCountMax: Int,
    invalidationCount: UInt64, prefix: Data = Data()
  ) {
    self.response = response
    self.request = request
    self.url = url
    self.cache = cache
    self.invalidationCount = invalidationCount
    state = Mutex(State(body: prefix, byteCountMax: byteCountMax))
  }

  /// Whether the task accepts the body.
  var isWanted: Bool { state.withLock { $0.isWanted } }

  /// Called when the task doesn't want the rest of the body. If the response is a redirect whose body has at most
  /// `unwantedBytesMax` bytes, continues to store the body, and returns true. Otherwise changes nothing and returns false.
  func continuesUnwanted() -> Bool {
    guard response.isRedirect else { return false }
    return state.withLock { state in
      let byteCount = max(state.body.count, response.fields.announcedByteCount)
      guard byteCount <= Self.unwantedBytesMax else { return false }
      state.byteCountMax = min(state.byteCountMax, Self.unwantedBytesMax)
      state.isWanted = false
      return true
    }
  }

  /// Adds received bytes to the body that will be stored. Returns false if the body becomes too long. Then the response must not be
  /// stored, and the older response that it has made outdated is removed.
  func append(_ bytes: borrowing Span<UInt8>) -> Bool {
    let isShort = state.withLock { state in
      guard bytes.count <= state.byteCountMax - state.body.count else { return false }
      state.body.append(copying: bytes, 0..<bytes.count)
      return true
    }
    if !isShort { cache.removeOutdated(by: response, to: request) }
    return isShort
  }

  /// Returns the response with its complete body, ready to be stored. `lead` notifies the requests that wait for it.
  func complete(_ lead: Lead? = nil, isCollapsible: Bool = false) -> StorableResponse {
    StorableResponse(self, state.withLock { $0.body }, lead, isCollapsible: isCollapsible)
  }
}

extension Fields {
  /// The size of the body in bytes according to Content-Length, or 0 if the field is missing or malformed.
  var announcedByteCount: Int { valueSlice("content-length").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }
}

extension StoredResponse {
  /// Whether the stored response is a redirect (a status code of 300 to 399). Callers rarely want the body of a redirect.
  var isRedirect: Bool { (300..<400).contains(status) }

  /// Whether it is useful to store this response. False for an error response that isn't fresh for any time. The cache would serve
  /// such a response only to requests that accept a stored response of any age, whose callers want a successful response.
  var isWorthStoring: Bool { status < 400 || lifetime.seconds > 0 }
}
