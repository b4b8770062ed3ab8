// CollectedBody: a response body in memory, and a session's `bodyBytesMax`, which limits the bodies that are collected in memory.

package import Foundation

/// A response body that is collected in memory, within the session's limit.
package struct CollectedBody {
  package private(set) var data = Data()
  private var isExcessive = false

  package init() {}

  /// Adds a part of the body. If the body exceeds the limit with this part, drops the body and returns the limit: the caller cancels
  /// the task with the error of `excess(at:)`. Parts that still arrive afterward are dropped, too.
  package mutating func append(_ part: Data, within limit: CollectedBodyLimit?) -> CollectedBodyLimit? {
    guard !isExcessive else { return nil }
    if let limit, part.count > limit.bytesMax - data.count {
      (data, isExcessive) = (Data(), true)
      return limit
    }
    // The first part is often the whole body. It is stored without copying it.
    if data.isEmpty { data = part } else { data.append(part) }
    return nil
  }
}

/// The limit for a response body that is collected in memory.
package struct CollectedBodyLimit: Sendable {
  /// The maximum number of bytes after decoding.
  package let bytesMax: Int

  /// Returns the error for a response whose declared length exceeds the limit, so that the task can be canceled before the body
  /// arrives. Nil if the response may be received.
  package func refusal(of response: URLResponse, to request: @autoclosure () -> URLRequest?) -> URLError? {
    guard response.expectedContentLength > bytesMax else { return nil }
    let request = request()
    return Self.hasBody(response, to: request) ? excess(at: request?.url) : nil
  }

  /// Returns whether the response has a body. A response to HEAD, and one with the status 204 or 304, has none, whatever its
  /// Content-Length is (RFC 9112 §6.3).
  private static func hasBody(_ response: URLResponse, to request: URLRequest?) -> Bool {
    let status = (response as? HTTPURLResponse)?.statusCode
    return request?.httpMethod != "HEAD" && status != 204 && status != 304
  }

  /// Returns the error of a task at `url` whose body exceeds the limit.
  package func excess(at url: URL?) -> URLError {
    URLError(
      .dataLengthExceedsMaximum,
      "\(ReadableText.url(url)): the body exceeds the session's limit of \(bytesMax) bytes. "
        + "Download it to a file, or raise bodyBytesMax.")
  }
}
