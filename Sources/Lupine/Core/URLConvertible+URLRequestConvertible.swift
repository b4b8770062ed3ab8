// What can be made into a URL or a URLRequest, and the types that can out of the box.

public import Foundation
public import LupineURLSession

/// A type from which a `URL` can be made.
public protocol URLConvertible: Sendable {
  /// The URL that this value stands for.
  ///
  /// - Throws: any error; ``AFError/invalidURL(url:)`` by the types of this module.
  func asURL() throws -> URL
}

extension String: URLConvertible {
  /// The URL that this string spells; characters that a URL may not hold are percent-encoded.
  ///
  /// - Throws: ``AFError/invalidURL(url:)`` if the string is empty or is not a URL (RFC 3986).
  public func asURL() throws -> URL {
    guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
    return url
  }
}

extension URL: URLConvertible {
  /// This URL.
  public func asURL() throws -> URL {
    self
  }
}

extension URLComponents: URLConvertible {
  /// The URL that these components make.
  ///
  /// - Throws: ``AFError/invalidURL(url:)`` if they make none, such as a relative path beside a host.
  public func asURL() throws -> URL {
    guard let url else { throw AFError.invalidURL(url: self) }
    return url
  }
}

/// A type from which a ``URLRequest`` can be made.
public protocol URLRequestConvertible: Sendable {
  /// The request that this value stands for.
  ///
  /// - Throws: any error, which the response then carries in ``AFError/createURLRequestFailed(error:)``.
  func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
  /// The request, or nil if making it throws.
  public var urlRequest: URLRequest? {
    try? asURLRequest()
  }
}

extension URLRequest: URLRequestConvertible {
  /// This request.
  public func asURLRequest() throws -> URLRequest {
    self
  }
}

extension URLRequest {
  /// A request with a method and, if given, all its header fields.
  ///
  /// - Throws: what ``URLConvertible/asURL()`` throws.
  public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
    self.init(url: try url.asURL(), method: method.rawValue, fields: (headers ?? HTTPHeaders()).section)
  }
}
