// ReadableText+HTTPHeaders: text for requests, header fields and bodies in the descriptions of responses.

import Foundation
import LupineURLSession

extension ReadableText {
  /// Returns one indented line for each header field. Hides credentials, except for their authentication scheme.
  static func fields(_ headers: HTTPHeaders) -> [String] { fields(headers.map { ($0.name, $0.value) }) }

  /// Returns a description of a message body: its size, and its content if the Content-Type in `headers` names text, JSON or XML
  /// and the body isn't too long.
  static func body(_ body: Data?, _ headers: HTTPHeaders) -> String {
    self.body(body, contentType: headers["Content-Type"])
  }

  static func lines(of request: URLRequest?) -> [String] {
    guard let request else { return ["request: none"] }
    let body = self.body(request.httpBody, request.headers)
    return ["request: \(self.request(request))"] + fields(request.headers) + ["request body: \(body)"]
  }

  static func lines(of response: HTTPURLResponse?) -> [String] {
    guard let response else { return ["response: none"] }
    let advice = response.authenticationAdvice.map { ["authentication: \(lines($0))"] } ?? []
    return ["response: \(response.statusCode)"] + advice + fields(response.headers.sorted())
  }
}
