// BuiltRequest: the parts of a request, from which each attempt creates a new URLRequest.

import Foundation
import LupineURLSession

/// A URL, a method, header fields and parameters, from which each attempt of a request creates its `URLRequest`.
struct BuiltRequest: URLRequestConvertible {
  typealias Modify = @Sendable (inout URLRequest) throws -> Void

  private let url: any URLConvertible
  private let method: HTTPMethod
  private let headers: HTTPHeaders?
  private let modify: Modify?
  private let encode: (@Sendable (URLRequest) throws -> URLRequest)?

  init(
    _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: Modify?,
    encode: (@Sendable (URLRequest) throws -> URLRequest)? = nil
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.modify = modify
    self.encode = encode
  }

  init<Parameters: Encodable & Sendable>(
    _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: Modify?,
    _ parameters: Parameters?, _ encoder: any ParameterEncoder
  ) {
    var encode: (@Sendable (URLRequest) throws -> URLRequest)?
    if let parameters { encode = { try encoder.encode(parameters, into: $0) } }
    self.init(url, method, headers, modify, encode: encode)
  }

  init(
    _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modify: Modify?,
    _ parameters: Parameters?, _ encoding: any ParameterEncoding
  ) {
    var encode: (@Sendable (URLRequest) throws -> URLRequest)?
    // Without parameters, `URLEncoding` changes nothing, but a custom encoding may change the request.
    if parameters != nil || type(of: encoding) != URLEncoding.self {
      encode = Self.encoder(encoding, parameters)
    }
    self.init(url, method, headers, modify, encode: encode)
  }

  // Inlining is disabled, because the encoding would be copied for the closure even if no closure is created.
  @inline(never)
  private static func encoder(
    _ encoding: any ParameterEncoding, _ parameters: Parameters?
  ) -> @Sendable (URLRequest) throws -> URLRequest {
    { try encoding.encode($0, with: parameters) }
  }

  func asURLRequest() throws -> URLRequest {
    var request = try url.makeURLRequest(method, headers)
    try modify?(&request)
    return try encode?(request) ?? request
  }
}
