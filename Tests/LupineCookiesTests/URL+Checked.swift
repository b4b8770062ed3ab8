// URL+Checked: a URL from text that a test knows to be one.

import Foundation
import Testing

extension URL {
  /// Creates a URL from text. Throws if the text isn't a URL.
  init(checked text: String) throws {
    self = try #require(URL(string: text))
  }
}
