// CachedURLResponse: a response with its body, which is proposed to the delegate for caching.

public import Foundation

// Unchecked because the class is open. All state is constant.
/// A response's head and its entire body, for storing in a cache. The object is immutable.
///
/// Two objects are equal if their heads, bodies and storage policies are equal. Comparisons ignore ``userInfo``.
open class CachedURLResponse: NSObject, NSCopying, @unchecked Sendable {
  private let storedResponse: URLResponse
  private let storedData: Data
  private let storedUserInfo: [AnyHashable: Any]?
  private let storedPolicy: URLCache.StoragePolicy

  /// The response's head.
  open var response: URLResponse { storedResponse }
  /// The body, after its content coding has been decoded.
  open var data: Data { storedData }
  /// The values that the program has attached to the response, or nil if there are none. A ``URLCache`` stores them in memory only.
  open var userInfo: [AnyHashable: Any]? { storedUserInfo }
  /// The places (memory, disk or none) in which a ``URLCache`` may store the response.
  open var storagePolicy: URLCache.StoragePolicy { storedPolicy }

  /// Creates an object with a response's head and body.
  ///
  /// - Parameters:
  ///   - response: The response's head.
  ///   - data: The entire body, after its content coding has been decoded.
  ///   - userInfo: Values to attach to the response, or nil.
  ///   - storagePolicy: The places in which a ``URLCache`` may store the response.
  public init(
    response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil,
    storagePolicy: URLCache.StoragePolicy = .allowed
  ) {
    storedResponse = response
    storedData = data
    storedUserInfo = userInfo
    storedPolicy = storagePolicy
    super.init()
  }

  /// Returns the object itself, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether `object` has an equal head, body and storage policy.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CachedURLResponse else { return false }
    return self === other
      || response == other.response && data == other.data && storagePolicy == other.storagePolicy
  }

  /// A hash of the head and the body.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(response)
    hasher.combine(data)
    return hasher.finalize()
  }

  /// A textual description of the response, with the size of its body.
  open override var description: String {
    "\(type(of: self)) with a body of \(ReadableText.bytes(Int64(data.count))): \(response)"
  }
}

extension HTTPURLResponse {
  /// Whether the session calls its delegate to decide about caching the response, even if the session's cache won't store it. True
  /// if the status code is 200...299 and Cache-Control has no `no-store` (RFC 9111 §5.2.2.5).
  var isStorable: Bool {
    (200..<300).contains(statusCode) && !members(of: "Cache-Control").contains("no-store")
  }
}
