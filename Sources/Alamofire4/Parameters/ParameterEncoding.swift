// ParameterEncoding: encodes a dictionary into a request.

import Foundation
public import LupineURLSession

/// The parameters of a request: values by name.
public typealias Parameters = [String: Any]

/// A type that encodes parameters into a request: into the URL's query, the body, or both.
public protocol ParameterEncoding {
  /// Returns the request with `parameters` encoded into it. If the method throws an error, the request fails with that error.
  func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
