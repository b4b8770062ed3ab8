// `URLConvertible` and `URLRequestConvertible`: types that can be converted to a URL or a URLRequest.

public import Foundation
public import LupineURLSession

/// A type that can be converted to a `URL`.
public protocol URLConvertible: Sendable {
  /// Returns the URL that this value represents.
  ///
  /// - Throws: Any error. The types of this module throw ``AFError/invalidURL(url:)``.
  func asURL() throws -> URL
}

extension String: URLConvertible {
  /// Returns the URL in this string. Characters that a URL can't contain are percent-encoded.
  ///
  /// - Throws: ``AFError/invalidURL(url:)`` if the string is empty or isn't a URL (RFC 3986), or if there is a backslash before the
  ///   URL's path, where browsers would read a different host.
  public func asURL() throws -> URL {
    guard let url = URL(unambiguous: self) else { throw AFError.invalidURL(url: self) }
    return url
  }
}

extension URL: URLConvertible {
  /// Returns this URL.
  public func asURL() throws -> URL {
    self
  }
}

extension URLComponents: URLConvertible {
  /// Returns the URL with these components.
  ///
  /// - Throws: ``AFError/invalidURL(url:)`` if the components don't form a URL, such as a host with a relative path.
  public func asURL() throws -> URL {
    guard let url else { throw AFError.invalidURL(url: self) }
    return url
  }
}

/// A type that can be converted to a `URLRequest`.
public protocol URLRequestConvertible: Sendable {
  /// Returns the `URLRequest` that this value represents.
  ///
  /// - Throws: Any error. The response's error is then ``AFError/createURLRequestFailed(error:)``, which wraps the thrown
  ///   error.
  func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
  /// The `URLRequest` that this value represents, or nil if `asURLRequest()` throws an error.
  public var urlRequest: URLRequest? {
    try? asURLRequest()
  }
}

extension URLRequest: URLRequestConvertible {
  /// Returns this `URLRequest` unchanged.
  public func asURLRequest() throws -> URLRequest {
    self
  }
}

extension URLRequest {
  /// Creates a `URLRequest` from a URL, a method and header fields.
  ///
  /// - Throws: The error of ``URLConvertible/asURL()``.
  public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
    self = try url.makeURLRequest(method, headers)
  }
}

extension URLConvertible {
  // Not an initializer of URLRequest, whose caller would have to copy the URL. The cast of `Self` costs half as much as a cast of
  // `any URLConvertible`.
  /// Returns a `URLRequest` with this URL, a method and header fields.
  func makeURLRequest(_ method: HTTPMethod, _ headers: HTTPHeaders?) throws -> URLRequest {
    let fields = headers?.section
    if let text = self as? String, let parsedURL = ParsedURL.kept(text) {
      return URLRequest(parsedURL, method: method.rawValue, fields: fields)
    }
    return URLRequest(url: try asURL(), method: method.rawValue, fields: fields)
  }
}
