// PropertyListEncoding: encodes parameters as a property list.

public import Foundation
import Lupine
public import LupineURLSession

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
