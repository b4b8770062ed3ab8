// URLEncoding: encodes parameters as `application/x-www-form-urlencoded`, in the query or the body.

import Foundation
import Lupine
import LupineFormats
public import LupineURLSession

/// Encodes parameters as `key=value` pairs, sorted by key, in the URL's query or the request body.
public struct URLEncoding: ParameterEncoding, Sendable {
  /// The part of a request that receives the `key=value` pairs.
  public enum Destination: Sendable {
    /// The pairs go to the URL's query for GET, HEAD and DELETE, and to the request body for other methods.
    case methodDependent
    /// The pairs are appended to the URL's query, whatever the request's method.
    case queryString
    /// The pairs become the request body, whatever the request's method.
    case httpBody
  }

  /// The format of the key under which each element of an array is written, such as `key[]=1&key[]=2`.
  public enum ArrayEncoding: Sendable {
    /// Writes each element of an array under the key with empty brackets: `key[]=1&key[]=2`.
    case brackets
    /// Writes each element of an array under the plain key, without brackets: `key=1&key=2`.
    case noBrackets
  }

  /// The format of `Bool` values: `1` and `0`, or `true` and `false`.
  public enum BoolEncoding: Sendable {
    /// Writes `true` as `1`, and `false` as `0`.
    case numeric
    /// Writes `true` and `false` as these words.
    case literal
  }

  /// An encoding whose destination depends on the request's method: the query for GET, HEAD and DELETE, otherwise the body.
  public static var `default`: URLEncoding { URLEncoding() }

  /// An encoding whose destination depends on the request's method: the query for GET, HEAD and DELETE, otherwise the body.
  public static var methodDependent: URLEncoding { URLEncoding() }

  /// An encoding that writes parameters to the URL's query, whatever the request's method.
  public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

  /// An encoding that writes parameters to the request body, whatever the request's method.
  public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

  /// The part of the request that receives the `key=value` pairs. `.methodDependent` by default.
  public let destination: Destination

  /// The format of the key under which each element of an array is written. `key[]=1&key[]=2` by default.
  public let arrayEncoding: ArrayEncoding

  /// The format of `Bool` values: `1` and `0` (the default), or `true` and `false`.
  public let boolEncoding: BoolEncoding

  private let encoding: Lupine.URLEncoding

  /// Creates an encoding that writes parameters as a URL-encoded form.
  public init(
    destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric
  ) {
    self.destination = destination
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
    encoding = Lupine.URLEncoding(
      arrayEncoding: arrayEncoding == .brackets ? .brackets : .noBrackets,
      boolEncoding: boolEncoding == .numeric ? .numeric : .literal)
  }

  /// Returns the request with `parameters` appended to its query or written to its body as a URL-encoded form.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.missingURL` if the query is the destination and the request has no
  ///   URL, or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    var request = try urlRequest.asURLRequest()
    guard let parameters else { return request }
    let form = encoding.form(parameters)
    guard isInQuery(for: request.httpMethod) else {
      return request.carrying(Data(form.utf8), type: "application/x-www-form-urlencoded; charset=utf-8")
    }
    guard let url = request.url else { throw AFError.parameterEncodingFailed(reason: .missingURL) }
    do {
      request.url = try url.appendingToQuery(form)
    } catch {
      throw AFError.invalidURL(url: url)
    }
    return request
  }

  /// Returns the percent-encoded key-value pairs for a parameter. An array or a dictionary may result in several pairs.
  public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
    encoding.queryComponents(fromKey: key, value: value)
  }

  /// Returns `string` with the characters percent-encoded that the keys and values of a query can't contain.
  public func escape(_ string: String) -> String { PercentEscapeTable.formDefault.escape(string) }

  private func isInQuery(for method: String?) -> Bool {
    switch destination {
    case .methodDependent: ["GET", "HEAD", "DELETE"].contains(method ?? "GET")
    case .queryString: true
    case .httpBody: false
    }
  }
}
