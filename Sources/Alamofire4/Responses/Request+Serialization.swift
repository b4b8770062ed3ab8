// The static serializers of `Request`: data, text, JSON and property lists.

public import Foundation
import Lupine
import LupineFormats
public import LupineURLSession

extension Request {
  /// The status codes of responses that have no body: No Content and Reset Content (RFC 9110 §15.3.5 and §15.3.6).
  static let emptyStatusCodes: Set = [204, 205]

  /// Returns `data`, the response body, or empty data for the status codes 204 and 205.
  public static func serializeResponseData(response: HTTPURLResponse?, data: Data?, error: (any Error)?) -> Result<Data>
  {
    serialize(response, error, empty: Data()) {
      guard let data else { throw AFError.responseSerializationFailed(reason: .inputDataNil) }
      return data
    }
  }

  /// Returns the response body as text, or an empty string for the status codes 204 and 205.
  ///
  /// - Parameters:
  ///   - encoding: The text's encoding. By default, the response's charset, or ISO-8859-1 if it has none.
  ///   - response: The response's head.
  ///   - data: The body.
  ///   - error: The error of the request.
  public static func serializeResponseString(
    encoding: String.Encoding?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) -> Result<String> {
    serialize(response, error, empty: "") {
      guard let data else { throw AFError.responseSerializationFailed(reason: .inputDataNil) }
      let encoding = encoding ?? response?.textEncodingName.flatMap { String.Encoding(charsetName: $0) } ?? .isoLatin1
      guard let text = String(data: data, encoding: encoding) else {
        throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
      }
      return text
    }
  }

  /// Returns the response body as untyped JSON, or `NSNull` for the status codes 204 and 205.
  ///
  /// - Parameters:
  ///   - options: The options for reading JSON.
  ///   - response: The response's head.
  ///   - data: The body.
  ///   - error: The error of the request.
  public static func serializeResponseJSON(
    options: JSONSerialization.ReadingOptions, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) -> Result<Any> {
    serialize(response, error, empty: NSNull()) {
      let data = try notEmpty(data)
      do {
        return try JSONSerialization.jsonObject(with: data, options: options)
      } catch {
        throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
      }
    }
  }

  /// Returns the response body as a property list, or `NSNull` for the status codes 204 and 205.
  ///
  /// Returns an error for a property list that Foundation can't read safely.
  ///
  /// - Parameters:
  ///   - options: The options for reading property lists.
  ///   - response: The response's head.
  ///   - data: The body.
  ///   - error: The error of the request.
  public static func serializeResponsePropertyList(
    options: PropertyListSerialization.ReadOptions, response: HTTPURLResponse?, data: Data?, error: (any Error)?
  ) -> Result<Any> {
    serialize(response, error, empty: NSNull()) {
      let data = try notEmpty(data)
      do {
        try PropertyListCheck.check(data)
        return try PropertyListSerialization.propertyList(from: data, options: options, format: nil)
      } catch let error as PropertyListError {
        throw AFError.responseSerializationFailed(reason: .propertyListSerializationFailed(error: error.asCocoaError))
      } catch {
        throw AFError.responseSerializationFailed(reason: .propertyListSerializationFailed(error: error))
      }
    }
  }

  /// Returns the result of the closure that serializes the body. If the request has failed, returns its error instead. If the
  /// response has no body because of its status code, returns the empty value.
  private static func serialize<Value>(
    _ response: HTTPURLResponse?, _ error: (any Error)?, empty: Value, _ body: () throws -> Value
  ) -> Result<Value> {
    if let error { return .failure(error) }
    if let response, emptyStatusCodes.contains(response.statusCode) { return .success(empty) }
    return Result(value: body)
  }

  private static func notEmpty(_ data: Data?) throws -> Data {
    guard let data, !data.isEmpty else {
      throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
    }
    return data
  }
}

extension PropertyListError {
  /// The error with which Foundation rejects a property list. Its underlying error is this error.
  fileprivate var asCocoaError: CocoaError {
    CocoaError(
      .propertyListReadCorrupt,
      userInfo: [NSUnderlyingErrorKey: self, NSLocalizedDescriptionKey: errorDescription ?? ""])
  }
}
