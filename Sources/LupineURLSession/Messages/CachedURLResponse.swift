// A response with its body, as it is offered for storing.

public import Foundation

// Unchecked since the class is open: all state is constant.
/// A complete response.
open class CachedURLResponse: NSObject, @unchecked Sendable {
  /// The response's head.
  public let response: URLResponse
  /// The body, decoded.
  public let data: Data

  /// Joins a head and a body.
  public init(response: URLResponse, data: Data) {
    self.response = response
    self.data = data
  }

  /// The response and the size of its body.
  open override var description: String {
    "\(type(of: self)) with a body of \(ReadableText.bytes(Int64(data.count))): \(response)"
  }
}

extension HTTPURLResponse {
  /// Whether a cache may keep it, so that somebody is asked about that: the request was successful, and the server doesn't
  /// forbid it (`no-store`, RFC 9111 §5.2.2.5).
  var isStorable: Bool {
    (200..<300).contains(statusCode) && !members(of: "Cache-Control").contains("no-store")
  }
}
