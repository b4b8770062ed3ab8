// ReadableText+HTTPHeaders: text for header fields and bodies in the descriptions of responses.

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
}
