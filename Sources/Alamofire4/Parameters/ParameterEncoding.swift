// ParameterEncoding: encodes a dictionary into a request, as JSON or a property list. URLEncoding has its own file.

public import Foundation
import Lupine
public import LupineURLSession

/// The parameters of a request: values by name.
public typealias Parameters = [String: Any]

/// A type that encodes parameters into a request: into the URL's query, the body, or both.
public protocol ParameterEncoding {
  /// Returns the request with `parameters` encoded into it. If the method throws an error, the request fails with that error.
  func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Encodes parameters as JSON, which becomes the request's body.
public struct JSONEncoding: ParameterEncoding, Sendable {
  /// An encoding that writes compact JSON with sorted keys.
  public static var `default`: JSONEncoding { JSONEncoding() }

  /// An encoding that writes indented JSON with sorted keys.
  public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

  /// The options for writing the JSON. None by default.
  public let options: JSONSerialization.WritingOptions

  /// Creates an encoding that writes JSON. Keys are sorted regardless of the options.
  public init(options: JSONSerialization.WritingOptions = []) {
    self.options = options
  }

  /// Returns the request with the JSON of `parameters` as its body. Also sets `Content-Type: application/json`, unless the request
  /// has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed(error:)` if a value can't be represented in JSON,
  ///   or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    try encode(urlRequest, withJSONObject: parameters)
  }

  /// Returns the request with the JSON of `jsonObject`, an array or a dictionary, as its body. Apart from that, behaves like
  /// `encode(_:with:)`.
  public func encode(_ urlRequest: any URLRequestConvertible, withJSONObject jsonObject: Any? = nil) throws
    -> URLRequest
  {
    let encoding = Lupine.JSONEncoding(options: options.union(.sortedKeys))
    do {
      return try encoding.encode(try urlRequest.asURLRequest(), withJSONObject: jsonObject)
    } catch Lupine.AFError.parameterEncodingFailed(.jsonEncodingFailed(let error)) {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
    }
  }
}

/// Encodes parameters as a property list, which becomes the request's body.
public struct PropertyListEncoding: ParameterEncoding, Sendable {
  /// An encoding that writes property lists as XML.
  public static var `default`: PropertyListEncoding { PropertyListEncoding() }

  /// An encoding that writes property lists as XML.
  public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

  /// An encoding that writes property lists in the binary format.
  public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

  /// The property list format that the encoding writes. XML by default.
  public let format: PropertyListSerialization.PropertyListFormat

  /// The options for writing property lists. Foundation defines no such options.
  public let options: PropertyListSerialization.WriteOptions

  /// Creates an encoding that writes property lists.
  public init(
    format: PropertyListSerialization.PropertyListFormat = .xml, options: PropertyListSerialization.WriteOptions = 0
  ) {
    self.format = format
    self.options = options
  }

  /// Returns the request with the property list of `parameters` as its body. Also sets `Content-Type: application/x-plist`, unless
  /// the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.propertyListEncodingFailed(error:)` if a value can't be represented
  ///   or the format is `.openStep`, which Foundation can't write; or the error of `asURLRequest()`.
  public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    let request = try urlRequest.asURLRequest()
    guard let parameters else { return request }
    do {
      // Foundation would trap on this format.
      if format == .openStep { throw CocoaError(.propertyListWriteInvalid) }
      let body = try PropertyListSerialization.data(fromPropertyList: parameters, format: format, options: options)
      return request.carrying(body, type: "application/x-plist")
    } catch {
      throw AFError.parameterEncodingFailed(reason: .propertyListEncodingFailed(error: error))
    }
  }
}
