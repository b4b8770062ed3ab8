// Pattern+Data: the bytes of the tests' byte pattern as data and in a file.

import Foundation
import LupineOrigin

extension Pattern {
  /// Returns the first `byteCount` bytes of the tests' byte pattern.
  static func data(_ byteCount: Int) -> Data { Data(bytes(0..<byteCount)) }
}

extension URL {
  /// Creates a file in this folder that contains the first `byteCount` bytes of the pattern, and returns the file's URL.
  @discardableResult
  func patternFile(_ byteCount: Int, name: String = "body") throws -> URL {
    let file = appending(path: name)
    try Pattern.data(byteCount).write(to: file)
    return file
  }
}
