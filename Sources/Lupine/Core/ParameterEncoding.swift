// Encoders of dictionaries into a request: as a form, as JSON or as a property list.

public import Foundation
public import LupineURLSession

/// Parameters of a request by name, for a ``ParameterEncoding``.
public typealias Parameters = [String: any Sendable]

/// Encodes a dictionary of parameters into a request: its URL's query, its body, or both.
///
/// For types of one's own, which are `Encodable`, a ``ParameterEncoder`` is the better choice.
public protocol ParameterEncoding: Sendable {
  /// Returns the request with `parameters` encoded into it; unchanged if there are none.
  ///
  /// - Throws: any error, which the request reports as its own.
  func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Encodes parameters as the JSON body of a request.
public struct JSONEncoding: ParameterEncoding {
  /// Why parameters can't be written as JSON.
  public enum Error: LocalizedError {
    /// JSON has no form for a value in them, or for a key that is no string.
    case invalidJSONObject

    /// What happened and what to do about it.
    public var errorDescription: String? {
      "JSON has no form for one of the values. Use strings, finite numbers, Bool, NSNull, and arrays and "
        + "dictionaries by strings of these."
    }

    /// What happened and what to do about it.
    public var localizedDescription: String { errorDescription ?? "" }
  }

  /// An encoding that writes JSON without spaces.
  public static var `default`: JSONEncoding { JSONEncoding() }

  /// An encoding whose JSON is indented.
  public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

  /// How the JSON is written.
  public let options: JSONSerialization.WritingOptions

  /// Makes an encoding.
  ///
  /// - Parameter options: how the JSON is written; with `.fragmentsAllowed` it may be a single value.
  public init(options: JSONSerialization.WritingOptions = []) {
    self.options = options
  }

  /// Returns the request with the JSON of `parameters` as its body, and `Content-Type: application/json` unless it has
  /// a type already.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed` if the parameters can't be encoded, and
  ///   what `asURLRequest()` throws.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    try encode(urlRequest, withJSONObject: parameters)
  }

  /// Returns the request with the JSON of `jsonObject`, an array or a dictionary, as its body, and
  /// `Content-Type: application/json` unless it has a type already; unchanged without an object.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed` if the object can't be encoded, and what
  ///   `asURLRequest()` throws.
  public func encode(_ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil) throws
    -> URLRequest
  {
    let request = try urlRequest.asURLRequest()
    guard let jsonObject else { return request }

    // Checked first, for writing an object that isn't valid traps.
    let root = options.contains(.fragmentsAllowed) ? [jsonObject] : jsonObject
    guard JSONSerialization.isValidJSONObject(root) else {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Error.invalidJSONObject))
    }
    let body: Data
    do {
      body = try JSONSerialization.data(withJSONObject: jsonObject, options: options)
    } catch {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
    }
    return request.carrying(body, type: "application/json")
  }
}

/// Encodes parameters as a property list, the body of a request.
///
/// Alamofire 5 has no such encoding any more; Alamofire 4's had this form.
public struct PropertyListEncoding: ParameterEncoding {
  /// The formats that Foundation writes; with the old OpenStep one, which can only be read, it would trap.
  public enum Format: Sendable {
    /// Text that people can read.
    case xml
    /// Apple's compact format.
    case binary
  }

  /// An encoding that writes XML.
  public static var `default`: PropertyListEncoding { PropertyListEncoding() }

  /// An encoding that writes XML.
  public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

  /// An encoding that writes the binary format.
  public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

  /// The format that is written.
  public let format: Format

  /// Makes an encoding.
  public init(format: Format = .xml) {
    self.format = format
  }

  /// Returns the request with the property list of `parameters` as its body, and `Content-Type: application/x-plist`
  /// unless it has a type already.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.customEncodingFailed` if the parameters hold what a property
  ///   list can't, such as `NSNull`, and what `asURLRequest()` throws.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    let request = try urlRequest.asURLRequest()
    guard let parameters else { return request }

    let body: Data
    do {
      body = try PropertyListSerialization.data(
        fromPropertyList: parameters, format: format == .xml ? .xml : .binary, options: 0)
    } catch {
      throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
    }
    return request.carrying(body, type: "application/x-plist")
  }
}
