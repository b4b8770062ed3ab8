// An encoder that puts Encodable parameters into a request as a property list.

public import Foundation
public import LupineURLSession

// Unchecked since the class is open: the encoder never changes, and PropertyListEncoder is Sendable itself.
/// Encodes parameters as a property list, the body of a request.
///
/// Alamofire 5 has no such encoder.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
  /// An encoder that writes XML.
  public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }

  /// An encoder that writes XML.
  public static var xml: PropertyListParameterEncoder { PropertyListParameterEncoder(format: .xml) }

  /// An encoder that writes the binary format.
  public static var binary: PropertyListParameterEncoder { PropertyListParameterEncoder(format: .binary) }

  /// What writes the property list.
  public let encoder: PropertyListEncoder

  /// Makes an encoder that writes with `encoder`, in the format that it is set to.
  public init(encoder: PropertyListEncoder) {
    self.encoder = encoder
  }

  /// Makes an encoder that writes that format.
  public convenience init(format: PropertyListEncoding.Format = .xml) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format == .xml ? .xml : .binary
    self.init(encoder: encoder)
  }

  /// Returns `request` with the property list of `parameters` as its body, and `Content-Type: application/x-plist`
  /// unless it has a type already.
  ///
  /// - Throws: `AFError.parameterEncodingFailed` with `.customEncodingFailed` if the parameters can't be encoded, or the
  ///   encoder is set to the OpenStep format, which can only be read.
  open func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest {
    guard let parameters else { return request }

    let body: Data
    do {
      // Foundation traps on that format.
      guard encoder.outputFormat != .openStep else { throw PropertyListError.unknownFormat }
      body = try encoder.encode(parameters)
    } catch {
      throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
    }
    return request.carrying(body, type: "application/x-plist")
  }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
  /// A property list encoder that writes XML.
  public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

  /// A property list encoder that writes with `encoder`, in the format that it is set to.
  public static func propertyList(encoder: PropertyListEncoder) -> PropertyListParameterEncoder {
    PropertyListParameterEncoder(encoder: encoder)
  }
}
