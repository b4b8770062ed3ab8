// A file for a test to upload, removed when the test is done with it.

import Glibc
import Testing

final class TemporaryFile: Sendable {
  let path: String

  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/lupine-upload-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    try #require(number >= 0)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let count = write(number, bytes, bytes.count)
    close(number)
    try #require(count == bytes.count)
  }

  deinit { unlink(path) }
}
