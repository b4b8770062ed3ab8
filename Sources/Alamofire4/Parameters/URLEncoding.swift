// URLEncoding: encodes parameters as `application/x-www-form-urlencoded`, in the query or the body.

import Foundation
import Lupine
import LupineFormats
public import LupineURLSession

/// Encodes parameters as `key=value` pairs, sorted by key, in the query or the body.
public struct URLEncoding: ParameterEncoding, Sendable {
  /// The part of the request that receives the pairs.
  public enum Destination: Sendable {
    /// The query for GET, HEAD and DELETE; the body for other methods.
    case methodDependent
    /// The query.
    case queryString
    /// The body.
    case httpBody
  }

  /// How the key of an array is written for each of the array's elements, such as `key[]=1&key[]=2`.
  public enum ArrayEncoding: Sendable {
    /// `key[]` for every element.
    case brackets
    /// `key` for every element.
    case noBrackets
  }

  /// How `Bool` values are written.
  public enum BoolEncoding: Sendable {
    /// Writes `true` as `1` and `false` as `0`.
    case numeric
    /// Writes `true` as `true` and `false` as `false`.
    case literal
  }

  /// An encoding whose destination depends on the method.
  public static var `default`: URLEncoding { URLEncoding() }

  /// An encoding whose destination depends on the method.
  public static var methodDependent: URLEncoding { URLEncoding() }

  /// An encoding into the query.
  public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

  /// An encoding into the body.
  public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

  /// The part of the request that receives the pairs.
  public let destination: Destination

  /// How the key of an array is written for each of the array's elements, such as `key[]=1&key[]=2`.
  public let arrayEncoding: ArrayEncoding

  /// How `Bool` values are written.
  public let boolEncoding: BoolEncoding

  private let encoding: Lupine.URLEncoding

  /// Creates an encoding.
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

  /// Returns the request with the parameters appended to its query, or as its body.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.missingURL` if the query is the destination and the request has no
  ///   URL, or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    var request = try urlRequest.asURLRequest()
    guard let parameters else { return request }
    let form = parameters.sorted { $0.key < $1.key }
      .flatMap { queryComponents(fromKey: $0.key, value: $0.value) }
      .map { "\($0)=\($1)" }
      .joined(separator: "&")
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

  /// Returns the percent-encoded pairs for a key and its value. An array or a dictionary may result in several pairs.
  public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
    encoding.queryComponents(fromKey: key, value: value)
  }

  /// Percent-encodes the characters that a query's keys and values can't contain, and returns the result.
  public func escape(_ string: String) -> String { PercentEscapeTable.formDefault.escape(string) }

  private func isInQuery(for method: String?) -> Bool {
    switch destination {
    case .methodDependent: ["GET", "HEAD", "DELETE"].contains(method ?? "GET")
    case .queryString: true
    case .httpBody: false
    }
  }
}
