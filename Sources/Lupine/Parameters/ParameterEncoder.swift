// `ParameterEncoder`: encodes `Encodable` parameters into a request, as JSON or as a form.

public import Foundation
internal import LupineFormats
public import LupineURLSession

/// A type that encodes parameters into a request: into the URL's query, the body, or both.
public protocol ParameterEncoder: Sendable {
  /// Returns `request` with `parameters` encoded into it, or unchanged if they are nil.
  ///
  /// - Throws: Any error, which then fails the request.
  func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws
    -> URLRequest
}

/// Encodes parameters as JSON, which becomes the request's body.
///
/// With a plain `JSONEncoder`, LupineJSON encodes the parameters in less time, with the same settings and the same result;
/// <doc:JSON> explains when Foundation is used.
///
/// Marked `@unchecked` because the class is open. The encoder is immutable, and JSONEncoder is Sendable.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
  /// A JSON encoder with the default configuration of `JSONEncoder`.
  public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

  /// An encoder that writes indented JSON.
  public static var prettyPrinted: JSONParameterEncoder { JSONParameterEncoder(formatting: .prettyPrinted) }

  /// An encoder that writes JSON with sorted keys.
  public static var sortedKeys: JSONParameterEncoder { JSONParameterEncoder(formatting: .sortedKeys) }

  /// The `JSONEncoder` that writes the JSON. By default, one with Foundation's default settings.
  public let encoder: JSONEncoder
  // Whether LupineJSON isn't used.
  private let usesFoundation: Bool

  /// Creates an encoder that writes JSON with `encoder`.
  public init(encoder: JSONEncoder = JSONEncoder()) {
    self.encoder = encoder
    usesFoundation = false
  }

  fileprivate init(foundation encoder: JSONEncoder) {
    self.encoder = encoder
    usesFoundation = true
  }

  private convenience init(formatting: JSONEncoder.OutputFormatting) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    self.init(encoder: encoder)
  }

  /// Returns `request` with the JSON of `parameters` as its body. Also sets `Content-Type:
  /// application/json`, unless the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.jsonEncodingFailed` if the parameters can't be encoded.
  open func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
    guard let parameters else { return request }
    do {
      let isFoundation = usesFoundation || JSONChoice.encodesWithFoundation
      let body = try isFoundation ? encoder.encode(parameters) : FoundationJSON.encode(parameters, with: encoder)
      return request.carrying(body, type: "application/json")
    } catch {
      throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
    }
  }
}

/// Encodes parameters as a URL-encoded form, into a request's query or body.
///
/// Marked `@unchecked` because the class is open and the form encoder's closures may not be Sendable. The form encoder is
/// immutable except for one variable, which a lock protects. Custom closures must be safe to call from several threads.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
  /// The part of a request that receives the URL-encoded form.
  public enum Destination {
    /// The form goes to the URL's query for GET, HEAD and DELETE, and to the request body for other methods.
    case methodDependent
    /// The form is appended to the URL's query, whatever the request's method.
    case queryString
    /// The form becomes the request body, whatever the request's method.
    case httpBody

    func isQuery(for method: HTTPMethod) -> Bool {
      switch self {
      case .methodDependent: [.get, .head, .delete].contains(method)
      case .queryString: true
      case .httpBody: false
      }
    }
  }

  /// An encoder with the default options. The request's method determines the destination.
  public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// The encoder that writes the URL-encoded form. By default, one with the default options.
  public let encoder: URLEncodedFormEncoder
  /// The part of the request that receives the URL-encoded form. `.methodDependent` by default.
  public let destination: Destination

  /// Creates an encoder that writes forms with `encoder` to `destination`.
  public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
    self.encoder = encoder
    self.destination = destination
  }

  /// Returns `request` with `parameters` as a URL-encoded form in its query or body. If the form is the body, also sets
  /// `Content-Type: application/x-www-form-urlencoded; charset=utf-8`, unless the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncoderFailed` with `.missingRequiredComponent(.url)` if the request has no URL, or with
  ///   `.encoderFailed` if the parameters can't be encoded or a custom set of allowed characters results in an invalid URL.
  open func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
    guard let parameters else { return request }
    guard let url = request.url else {
      throw AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url))
    }

    do {
      let form: String = try encoder.encode(parameters)
      guard destination.isQuery(for: request.method ?? .get) else {
        return request.carrying(Data(form.utf8), type: "application/x-www-form-urlencoded; charset=utf-8")
      }
      var request = request
      request.url = try url.appendingToQuery(form)
      return request
    } catch {
      throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
    }
  }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
  /// A ``JSONParameterEncoder`` with default settings.
  public static var json: JSONParameterEncoder { JSONParameterEncoder() }

  /// A ``JSONParameterEncoder`` that writes JSON with `encoder`.
  public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
    JSONParameterEncoder(encoder: encoder)
  }

  /// A ``JSONParameterEncoder`` that always uses Foundation's `encoder`, and never LupineJSON.
  public static func foundation(_ encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
    JSONParameterEncoder(foundation: encoder)
  }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
  /// A ``URLEncodedFormParameterEncoder`` with default settings.
  public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// A ``URLEncodedFormParameterEncoder`` that writes forms with `encoder` to `destination`.
  public static func urlEncodedForm(
    encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
    destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
  ) -> URLEncodedFormParameterEncoder {
    URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
  }
}
