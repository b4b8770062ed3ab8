// `PropertyListParameterEncoder`: encodes `Encodable` parameters into a request as a property list.

public import Foundation
public import LupineURLSession

// Unchecked because the class is open. The encoder is immutable, and PropertyListEncoder is Sendable.
/// Encodes parameters as a property list, which becomes the request's body. Alamofire 5 has no such encoder.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
  /// An encoder that writes property lists as XML.
  public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }

  /// An encoder that writes property lists as XML.
  public static var xml: PropertyListParameterEncoder { PropertyListParameterEncoder(format: .xml) }

  /// An encoder that writes property lists in the binary format.
  public static var binary: PropertyListParameterEncoder { PropertyListParameterEncoder(format: .binary) }

  /// The `PropertyListEncoder` that writes the property list.
  public let encoder: PropertyListEncoder

  /// Creates an encoder that writes property lists with `encoder`, in the encoder's output format.
  public init(encoder: PropertyListEncoder) {
    self.encoder = encoder
  }

  /// Creates an encoder that writes property lists in `format`.
  public convenience init(format: PropertyListEncoding.Format = .xml) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format == .xml ? .xml : .binary
    self.init(encoder: encoder)
  }

  /// Returns `request` with the property list of `parameters` as its body. Also sets `Content-Type: application/x-plist`, unless
  /// the request has a Content-Type.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.customEncodingFailed` if the parameters can't be encoded, or if the
  ///   encoder's format is OpenStep, which is read-only.
  open func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
    guard let parameters else { return request }
    do {
      // Foundation traps on the OpenStep format.
      guard encoder.outputFormat != .openStep else { throw PropertyListError.unknownFormat }
      return request.carrying(try encoder.encode(parameters), type: "application/x-plist")
    } catch {
      throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
    }
  }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
  /// A ``PropertyListParameterEncoder`` that writes XML.
  public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

  /// A ``PropertyListParameterEncoder`` that writes property lists with `encoder`, in the encoder's output format.
  public static func propertyList(encoder: PropertyListEncoder) -> PropertyListParameterEncoder {
    PropertyListParameterEncoder(encoder: encoder)
  }
}
