// Request's descriptions: its method, URL and status code, and its curl command.

import Foundation
import Lupine
import LupineURLSession

extension Request: CustomStringConvertible {
  /// The request's method, its URL and, after the response has arrived, the status code.
  public var description: String {
    [
      request?.httpMethod, request?.url.map(ReadableText.url), response.map { "(\($0.statusCode))" },
    ].compactMap(\.self).joined(separator: " ")
  }
}

extension Request: CustomDebugStringConvertible {
  /// A curl command that sends the same request.
  public var debugDescription: String {
    guard let request else { return "$ curl command could not be created" }
    let configuration = session.configuration
    let fields = (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
    return cURLDescription(
      of: request,
      configuration: Lupine.HTTPHeaders(Dictionary(fields, uniquingKeysWith: { _, last in last })),
      credential: taskDelegate.credential, cookies: configuration.cookieField(for: request),
      namesGET: false)
  }
}
