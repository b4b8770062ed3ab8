// PassedResponse: an origin's response that is passed on to a task, and that the cache stores once it is complete.

import Foundation
import LupineCache
import LupineEngine

/// An origin's response that is passed on to a task while its body is received, and that the cache may store once it is complete.
struct PassedResponse {
  /// The maximum size, in bytes, of a redirect's body that is read only so that the redirect can be stored, although the task
  /// doesn't accept the body: 64 KiB. The engine has the same limit for all bodies that it reads and discards
  /// (`EngineConfiguration.drainedBytesMax`).
  static let unwantedBytesMax = 64 * 1024
  /// The maximum time, in milliseconds, for reading a redirect's body only so that the redirect can be stored, although the task
  /// doesn't accept the body: 1,000. Afterward, the engine reads and discards the body for at most another second.
  static let unwantedMillisecondsMax = 1_000

  /// Whether the task accepts the body.
  private(set) var isWanted: Bool
  /// The metadata with which the response will be stored. Nil if the response won't be stored.
  private(set) var response: StoredResponse?
  /// The part of the body that has been received so far, which will be stored. Empty if the response won't be stored.
  private(set) var body = Data()

  init(_ response: StoredResponse?, isWanted: Bool) {
    self.response = response
    self.isWanted = isWanted
  }

  mutating func stopStoring() { (response, body) = (nil, Data()) }

  /// Called when the task doesn't want the rest of the body. If the response is a redirect that is being stored, and its body has at
  /// most `unwantedBytesMax` bytes, continues to store the body, and returns true. Otherwise changes nothing and returns false.
  mutating func storesRedirectUnwanted() -> Bool {
    guard let response, response.isRedirect,
      max(body.count, response.fields.announcedByteCount) <= Self.unwantedBytesMax
    else { return false }
    isWanted = false
    return true
  }

  /// Adds received bytes to the body that will be stored. Returns false, without adding them, if the body would exceed `byteCountMax`
  /// bytes.
  mutating func append(_ bytes: borrowing Span<UInt8>, byteCountMax: Int) -> Bool {
    guard bytes.count <= byteCountMax - body.count else { return false }
    body.append(copying: bytes, 0..<bytes.count)
    return true
  }

  /// The response with its complete body, ready to be stored. Nil if it won't be stored.
  var complete: (response: StoredResponse, body: Data)? {
    response.map { ($0.withBody(byteCount: UInt64(body.count)), body) }
  }
}

extension Fields {
  /// The size of the body in bytes according to Content-Length, or 0 if the field is missing or malformed.
  var announcedByteCount: Int { valueSlice("content-length").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }
}

extension StoredResponse {
  /// Whether the stored response is a redirect (a status code of 300 to 399). Callers rarely want the body of a redirect.
  var isRedirect: Bool { (300..<400).contains(status) }

  /// Whether it is useful to store this response. False for an error response without an explicit freshness lifetime. The cache
  /// would serve such a response only to requests that accept a stored response of any age, whose callers want a successful
  /// response.
  var isWorthStoring: Bool {
    switch lifetime {
    case .maxAge(let seconds), .expires(let seconds): status < 400 || seconds > 0
    case .heuristic, .invalid, .unknown: status < 400
    }
  }
}
