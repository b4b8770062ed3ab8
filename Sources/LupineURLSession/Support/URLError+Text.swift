// URLError+Text: creates errors with a description.

import Foundation

extension URLError {
  /// Creates an error with a description, and with those of the other values that aren't nil: the failing URL, the path of a file, and
  /// the error that caused this one.
  init(_ code: Code, _ text: String, url: URL? = nil, path: String? = nil, underlying: (any Error)? = nil) {
    var info: [String: Any] = [NSLocalizedDescriptionKey: text]
    info[NSURLErrorFailingURLErrorKey] = url
    info[NSFilePathErrorKey] = path
    info[NSUnderlyingErrorKey] = underlying
    self.init(code, userInfo: info)
  }

  /// The error for a request without a URL.
  static var missingURL: URLError { URLError(.unsupportedURL, "The request has no URL. Set one.") }
}
