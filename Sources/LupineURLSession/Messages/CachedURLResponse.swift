// CachedURLResponse: a response with its body, which is proposed to the delegate for caching.

public import Foundation

// Unchecked because the class is open. All state is constant.
/// A response's head and its entire body, for storing in a cache. Immutable.
open class CachedURLResponse: NSObject, @unchecked Sendable {
  /// The response's head.
  public let response: URLResponse
  /// The body, after decoding.
  public let data: Data
  /// Values that the program has attached to the response, or nil. A ``URLCache`` keeps them only in memory.
  public let userInfo: [AnyHashable: Any]?
  /// The places in which a ``URLCache`` may store the response.
  public let storagePolicy: URLCache.StoragePolicy

  /// Creates a cached response.
  ///
  /// - Parameters:
  ///   - response: The response's head.
  ///   - data: The entire body, after decoding.
  ///   - userInfo: Values to attach to the response.
  ///   - storagePolicy: The places in which the response may be stored.
  public init(
    response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil,
    storagePolicy: URLCache.StoragePolicy = .allowed
  ) {
    self.response = response
    self.data = data
    self.userInfo = userInfo
    self.storagePolicy = storagePolicy
  }

  /// A textual description of the response, with the size of its body.
  open override var description: String {
    "\(type(of: self)) with a body of \(ReadableText.bytes(Int64(data.count))): \(response)"
  }
}

extension HTTPURLResponse {
  /// Whether the session asks its delegate about caching the response, even if its own cache won't store it. True if the status
  /// code is 200...299 and Cache-Control has no `no-store` (RFC 9111 §5.2.2.5).
  var isStorable: Bool {
    (200..<300).contains(statusCode) && !members(of: "Cache-Control").contains("no-store")
  }
}
