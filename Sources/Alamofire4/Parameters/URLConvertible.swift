// URLConvertible and URLRequestConvertible: types from which requests are created.
//
// Lupine declares the same members of Foundation's types. The members in this file are disfavored overloads, so that a program
// that imports both modules compiles, and uses Lupine's members.

public import Foundation
public import LupineURLSession

/// A type that can be converted to a `URL`.
public protocol URLConvertible {
  /// Returns the URL that this value represents. If the method throws an error, the request fails with that error.
  func asURL() throws -> URL
}

extension String: URLConvertible {
  /// Returns the URL in this string, or throws `AFError.invalidURL(url:)` if it isn't a URL, or if there is a backslash before
  /// the URL's path, where browsers would read a different host.
  @_disfavoredOverload
  public func asURL() throws -> URL {
    guard let url = URL(unambiguous: self) else { throw AFError.invalidURL(url: self) }
    return url
  }
}

extension URL: URLConvertible {
  /// Returns this URL.
  @_disfavoredOverload
  public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
  /// Returns the URL with these components, or throws `AFError.invalidURL(url:)` if they don't form a URL.
  @_disfavoredOverload
  public func asURL() throws -> URL {
    guard let url else { throw AFError.invalidURL(url: self) }
    return url
  }
}

/// A type that can be converted to a `URLRequest`.
public protocol URLRequestConvertible {
  /// Returns the `URLRequest` that this value represents. If the method throws an error, the request fails with that error.
  func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
  /// The `URLRequest` that this value represents, or nil if `asURLRequest()` throws an error.
  @_disfavoredOverload
  public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
  /// Returns this `URLRequest` unchanged.
  @_disfavoredOverload
  public func asURLRequest() throws -> URLRequest { self }

  /// Creates a `URLRequest` from a URL, a method and header fields, or throws the error of `asURL()`.
  @_disfavoredOverload
  public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
    self.init(url: try url.asURL())
    httpMethod = method.rawValue
    for (name, value) in headers ?? [:] { setValue(value, forHTTPHeaderField: name) }
  }
}
