// A dictionary of parameters as `application/x-www-form-urlencoded`, in the query or the body.

import Foundation
public import LupineURLSession

/// Encodes parameters as percent-escaped `key=value` pairs, for the query or a form body.
///
/// The pairs stand in the order of their keys. Numbers are written as `NSNumber` describes them, whole ones without a
/// fraction: `1.0` is `1`. What is no number, text, array or dictionary is written as its description.
public struct URLEncoding: ParameterEncoding {
  /// Where the form goes.
  public enum Destination: Sendable {
    /// Into the query for GET, HEAD and DELETE, else into the body.
    case methodDependent
    /// Into the query, behind the one that the URL has.
    case queryString
    /// Into the body.
    case httpBody

    fileprivate func isQuery(for method: HTTPMethod) -> Bool {
      switch self {
      case .methodDependent: [.get, .head, .delete].contains(method)
      case .queryString: true
      case .httpBody: false
      }
    }
  }

  /// How the elements of an array are keyed.
  public enum ArrayEncoding: Sendable {
    /// `key[]`, for every element.
    case brackets
    /// `key`, for every element.
    case noBrackets
    /// `key[0]`, `key[1]` and so on.
    case indexInBrackets
    /// Whatever the closure makes of the key and the index, which counts from 0.
    case custom(@Sendable (_ key: String, _ index: Int) -> String)

    fileprivate func key(_ key: String, at index: Int) -> String {
      switch self {
      case .brackets: "\(key)[]"
      case .noBrackets: key
      case .indexInBrackets: "\(key)[\(index)]"
      case .custom(let form): form(key, index)
      }
    }
  }

  /// How `Bool` values are written.
  public enum BoolEncoding: Sendable {
    /// `1` and `0`.
    case numeric
    /// `true` and `false`.
    case literal

    fileprivate func text(_ value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// An encoding with the default options, whose destination depends on the method.
  public static var `default`: URLEncoding { URLEncoding() }

  /// An encoding into the query.
  public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

  /// An encoding into the body.
  public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

  /// Where the form goes.
  public let destination: Destination
  /// How the elements of an array are keyed.
  public let arrayEncoding: ArrayEncoding
  /// How `Bool` values are written.
  public let boolEncoding: BoolEncoding

  /// Makes an encoding.
  public init(
    destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric
  ) {
    self.destination = destination
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
  }

  /// Returns the request with the form of `parameters` in its query or as its body. A body gets
  /// `Content-Type: application/x-www-form-urlencoded; charset=utf-8` unless the request has a type already.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.missingURL` if there is no URL to put a query into, and what
  ///   `asURLRequest()` throws.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    var request = try urlRequest.asURLRequest()
    guard let parameters else { return request }

    guard destination.isQuery(for: request.method ?? .get) else {
      return request.carrying(Data(form(parameters).utf8), type: "application/x-www-form-urlencoded; charset=utf-8")
    }
    guard let url = request.url else { throw AFError.parameterEncodingFailed(reason: .missingURL) }
    request.url = try url.appendingToQuery(form(parameters))
    return request
  }

  /// The escaped pairs that a value makes under a key: one for a single value, one for each element of an array or a
  /// dictionary, whose key is `key[name]`.
  public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
    switch value {
    case let dictionary as [String: Any]:
      return dictionary.sorted { $0.key < $1.key }
        .flatMap { queryComponents(fromKey: "\(key)[\($0.key)]", value: $0.value) }
    case let array as [Any]:
      return array.enumerated()
        .flatMap { queryComponents(fromKey: arrayEncoding.key(key, at: $0.offset), value: $0.element) }
    default:
      return [(escape(key), escape(text(value)))]
    }
  }

  /// The text with every character escaped that a key or a value can't have (RFC 3986 §2.1): all but
  /// `CharacterSet.afURLQueryAllowed`.
  public func escape(_ string: String) -> String {
    PercentEscapeTable.formDefault.escape(string)
  }

  private func form(_ parameters: Parameters) -> String {
    parameters.sorted { $0.key < $1.key }
      .flatMap { queryComponents(fromKey: $0.key, value: $0.value) }
      .map { "\($0)=\($1)" }
      .joined(separator: "&")
  }

  private func text(_ value: Any) -> String {
    switch value {
    case let text as String: text
    case let number as NSNumber: text(number)
    default: "\(value)"
    }
  }

  private func text(_ number: NSNumber) -> String {
    // The two truth values are single objects. A cast to Bool doesn't tell, for it takes the numbers 0 and 1 too.
    if number === Self.yes { return boolEncoding.text(true) }
    if number === Self.no { return boolEncoding.text(false) }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static let yes = NSNumber(value: true)
  private static let no = NSNumber(value: false)
}
