// TemporaryFile: a file for a test, which is removed when the object is deallocated.

internal import Glibc

package final class TemporaryFile: Sendable {
  /// The error for a file that couldn't be created. `code` is the errno value.
  package struct Failure: Error {
    package let code: CInt
  }

  package let path: String

  package init(_ bytes: [UInt8] = []) throws(Failure) {
    var template = Array("/tmp/lupine-test-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    guard number >= 0 else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let count = write(number, bytes, bytes.count)
    let code = errno
    close(number)
    guard count == bytes.count else { throw Failure(code: code) }
  }

  deinit { unlink(path) }
}
