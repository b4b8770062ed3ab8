// `URLEncoding`: encodes a dictionary as `application/x-www-form-urlencoded`, into the query or the body.

import Foundation
public import LupineURLSession

/// Encodes parameters as percent-encoded `key=value` pairs, in the URL's query or the request body.
///
/// The pairs are sorted by key. A number is written as the description of its `NSNumber`, without a fraction if it is whole:
/// `1.0` becomes `1`. Values other than numbers, strings, arrays and dictionaries are written as their descriptions.
public struct URLEncoding: ParameterEncoding {
  /// The part of a request that receives the URL-encoded form.
  public enum Destination: Sendable {
    /// The form goes to the URL's query for GET, HEAD and DELETE, and to the request body for other methods.
    case methodDependent
    /// The form is appended to the URL's query, whatever the request's method.
    case queryString
    /// The form becomes the request body, whatever the request's method.
    case httpBody

    fileprivate func isQuery(for method: HTTPMethod) -> Bool {
      switch self {
      case .methodDependent: [.get, .head, .delete].contains(method)
      case .queryString: true
      case .httpBody: false
      }
    }
  }

  /// The format of the key under which each element of an array is written, such as `key[]=1`.
  public enum ArrayEncoding: Sendable {
    /// Writes each element of an array under the key with empty brackets: `key[]=1&key[]=2`.
    case brackets
    /// Writes each element of an array under the plain key, without brackets: `key=1&key=2`.
    case noBrackets
    /// Writes each element of an array under the key with the element's index: `key[0]=1&key[1]=2`.
    case indexInBrackets
    /// Writes each element of an array under the key that the closure returns. The closure receives the array's key and the
    /// element's index, counted from 0.
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

  /// The format of `Bool` values: `1` and `0`, or `true` and `false`.
  public enum BoolEncoding: Sendable {
    /// Writes `true` as `1`, and `false` as `0`.
    case numeric
    /// Writes `true` and `false` as these words.
    case literal

    fileprivate func text(_ value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// An encoding with the default options. The request's method determines the destination.
  public static var `default`: URLEncoding { URLEncoding() }

  /// An encoding that writes the form to the URL's query, whatever the request's method.
  public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

  /// An encoding that writes the form to the request's body, whatever the request's method.
  public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

  // The largest property comes first. In another order, the encoding has one byte too many to be stored inside an
  // `any ParameterEncoding`, and each request would allocate memory for it.
  /// The format of the key under which each element of an array is written. `key[]=1` by default.
  public let arrayEncoding: ArrayEncoding
  /// The part of the request that receives the URL-encoded form. `.methodDependent` by default.
  public let destination: Destination
  /// The format of `Bool` values: `1` and `0` (the default), or `true` and `false`.
  public let boolEncoding: BoolEncoding

  /// Creates an encoding that writes parameters as a URL-encoded form.
  public init(
    destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric
  ) {
    self.destination = destination
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
  }

  /// Returns the request with `parameters` as a URL-encoded form in its query or body. If the form is the body, also sets
  /// `Content-Type: application/x-www-form-urlencoded; charset=utf-8`, unless the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.missingURL` if the query is the destination and the request has no URL,
  ///   or the error of `asURLRequest()`.
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

  /// Returns the percent-encoded key-value pairs for a parameter. A single value results in one pair; an array or a dictionary
  /// results in one pair for each element. A dictionary's elements have keys of the form `key[name]`.
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

  /// Returns the text with every character percent-encoded (RFC 3986 §2.1) except those in `CharacterSet.afURLQueryAllowed`.
  public func escape(_ string: String) -> String {
    PercentEscapeTable.formDefault.escape(string)
  }

  /// Returns the percent-encoded `key=value` pairs of all parameters, joined by ampersands.
  package func form<Value>(_ parameters: [String: Value]) -> String {
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
    // Compares identities, because each Bool value is represented by a single object. A cast to Bool would also accept the
    // numbers 0 and 1.
    if number === Self.yes { return boolEncoding.text(true) }
    if number === Self.no { return boolEncoding.text(false) }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static let yes = NSNumber(value: true)
  private static let no = NSNumber(value: false)
}
