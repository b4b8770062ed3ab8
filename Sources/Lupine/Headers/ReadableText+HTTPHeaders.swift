// ReadableText+HTTPHeaders: text for header fields and bodies in the descriptions of responses.

import Foundation
import LupineURLSession

extension ReadableText {
  /// Returns an indented line for each field. Hides credentials, except for their authentication scheme.
  static func fields(_ headers: HTTPHeaders) -> [String] { fields(headers.map { ($0.name, $0.value) }) }

  /// Returns a description of a body with these header fields: its size, and its content if it is text.
  static func body(_ body: Data?, _ headers: HTTPHeaders) -> String {
    self.body(body, contentType: headers["Content-Type"])
  }
}
