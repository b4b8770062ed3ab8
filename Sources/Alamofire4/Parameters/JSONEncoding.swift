// JSONEncoding: encodes parameters as a JSON body.

public import Foundation
import Lupine
public import LupineURLSession

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
