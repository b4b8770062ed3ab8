// CachedURLResponse: a response with its body, which a cache stores. Sessions first let their delegate change or refuse it.

public import Foundation

// Unchecked because the class is open. All state is constant.
/// A response's head with its entire body, as stored in a cache. The object is immutable.
///
/// Two objects are equal if their heads, bodies and storage policies are equal, even if their ``userInfo`` differs.
open class CachedURLResponse: NSObject, NSCopying, @unchecked Sendable {
  private let storedResponse: URLResponse
  private let storedData: Data
  private let storedUserInfo: [AnyHashable: Any]?
  private let storedPolicy: URLCache.StoragePolicy

  /// The head of the cached response: its URL, status code and fields.
  open var response: URLResponse { storedResponse }
  /// The body of the cached response, after its content coding, such as gzip, has been decoded.
  open var data: Data { storedData }
  /// Values that the program has attached to the cached response, or nil if there are none. A ``URLCache`` stores them only in
  /// memory.
  open var userInfo: [AnyHashable: Any]? { storedUserInfo }
  /// Where a ``URLCache`` may store the response: in memory and on disk, in memory only, or not at all.
  open var storagePolicy: URLCache.StoragePolicy { storedPolicy }

  /// Creates a cached response from a head and a body.
  ///
  /// - Parameters:
  ///   - response: The response's head.
  ///   - data: The entire body, after its content coding, such as gzip, has been decoded.
  ///   - userInfo: Values to attach to the cached response, or nil.
  ///   - storagePolicy: Where a ``URLCache`` may store the response.
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

  /// Returns a cached response with this one's `userInfo` and storage policy, but with another head or body.
  final func with(response: URLResponse? = nil, data: Data? = nil) -> CachedURLResponse {
    CachedURLResponse(
      response: response ?? self.response, data: data ?? self.data, userInfo: userInfo, storagePolicy: storagePolicy)
  }

  /// Returns this object itself, because cached responses are immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether `object` is a cached response with an equal head, body and storage policy.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CachedURLResponse else { return false }
    return self === other
      || response == other.response && data == other.data && storagePolicy == other.storagePolicy
  }

  /// A hash of the response's head and its body.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(response)
    hasher.combine(data)
    return hasher.finalize()
  }

  /// A textual description of the cached response: its head and the size of its body.
  open override var description: String {
    "\(type(of: self)) with a body of \(ReadableText.bytes(Int64(data.count))): \(response)"
  }
}

extension HTTPURLResponse {
  /// Whether the session asks its delegate about caching this response, even if the session's cache won't store it. True if the
  /// status code is 200...299 and Cache-Control has no `no-store` (RFC 9111 §5.2.2.5).
  var isStorable: Bool {
    (200..<300).contains(statusCode) && !members(of: "Cache-Control").contains("no-store")
  }
}
