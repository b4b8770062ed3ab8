// `ParameterEncoding`: encodes a dictionary into a request, as a form, JSON or a property list.

public import Foundation
internal import LupineFormats
public import LupineURLSession

/// The parameters that a ``ParameterEncoding`` encodes: values by name.
public typealias Parameters = [String: any Sendable]

/// A type that encodes a dictionary of parameters into a request: into the URL's query, the body, or both.
///
/// For your own `Encodable` types, prefer a ``ParameterEncoder``.
public protocol ParameterEncoding: Sendable {
  /// Returns the `URLRequest` with `parameters` encoded into it, or unchanged if `parameters` is nil.
  ///
  /// - Throws: Any error, which then fails the request.
  func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Encodes parameters as JSON, which becomes the request's body.
public struct JSONEncoding: ParameterEncoding {
  /// The reason why parameters can't be represented as JSON.
  public enum Error: LocalizedError {
    /// A value can't be represented in JSON, or a key in a dictionary isn't a string.
    case invalidJSONObject

    /// A description of the failure and of a remedy, in English.
    public var errorDescription: String? {
      "One of the values can't be represented in JSON. Use only strings, finite numbers, Bool, NSNull, and arrays and "
        + "string-keyed dictionaries of these."
    }

    /// A description of the failure and of a remedy, in English.
    public var localizedDescription: String { errorDescription ?? "" }
  }

  /// An encoding that writes compact JSON.
  public static var `default`: JSONEncoding { JSONEncoding() }

  /// An encoding that writes indented JSON.
  public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

  /// The options for writing the JSON. None by default.
  public let options: JSONSerialization.WritingOptions

  /// Creates an encoding that writes JSON.
  ///
  /// - Parameter options: The options for writing JSON. With `.fragmentsAllowed`, the top level may be a single value.
  public init(options: JSONSerialization.WritingOptions = []) {
    self.options = options
  }

  /// Returns the request with the JSON of `parameters` as its body. Also sets `Content-Type: application/json`, unless the
  /// request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed` if the parameters can't
  ///   be encoded, or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    try encode(urlRequest, withJSONObject: parameters)
  }

  /// Returns the request with the JSON of `jsonObject`, an array or a dictionary, as its body. Also sets `Content-Type:
  /// application/json`, unless the request has a Content-Type. If `jsonObject` is nil, the request is unchanged.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed` if the object can't
  ///   be encoded, or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil) throws
    -> URLRequest
  {
    let request = try urlRequest.asURLRequest()
    guard let jsonObject else { return request }

    if !JSONChoice.encodesWithFoundation, let body = FoundationJSON.fastData(object: jsonObject, options: options) {
      return request.carrying(body, type: "application/json")
    }
    // The object is checked first, because JSONSerialization traps on an invalid object.
    let root = options.contains(.fragmentsAllowed) ? [jsonObject] : jsonObject
    guard JSONSerialization.isValidJSONObject(root) else {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Error.invalidJSONObject))
    }
    do {
      let body = try JSONSerialization.data(withJSONObject: jsonObject, options: options)
      return request.carrying(body, type: "application/json")
    } catch {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
    }
  }
}

/// Encodes parameters as a property list, which becomes the request's body.
///
/// Alamofire 5 has no such encoding. This type has the API of Alamofire 4's `PropertyListEncoding`.
public struct PropertyListEncoding: ParameterEncoding {
  /// The property list formats that Foundation can write. The old OpenStep format isn't among them: Foundation can only read it,
  /// and would trap when writing it.
  public enum Format: Sendable {
    /// The XML format, which people can read.
    case xml
    /// Apple's binary format, which is more compact than XML.
    case binary
  }

  /// An encoding that writes property lists as XML.
  public static var `default`: PropertyListEncoding { PropertyListEncoding() }

  /// An encoding that writes property lists as XML.
  public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

  /// An encoding that writes property lists in the binary format.
  public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

  /// The property list format that the encoding writes. XML by default.
  public let format: Format

  /// Creates an encoding that writes property lists in the given format.
  public init(format: Format = .xml) {
    self.format = format
  }

  /// Returns the request with the property list of `parameters` as its body. Also sets `Content-Type: application/x-plist`,
  /// unless the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.customEncodingFailed` if a parameter can't be represented in a property
  ///   list, such as `NSNull`, or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    let request = try urlRequest.asURLRequest()
    guard let parameters else { return request }
    do {
      let body = try PropertyListSerialization.data(
        fromPropertyList: parameters, format: format == .xml ? .xml : .binary, options: 0)
      return request.carrying(body, type: "application/x-plist")
    } catch {
      throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
    }
  }
}
