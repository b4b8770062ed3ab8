// SystemErrorTests: descriptions and kinds of system errors.

import Glibc
import LupineReactor
import Testing

@Suite("SystemError")
struct SystemErrorTests {
  @Test("a system error's description contains the system call and the reason")
  func description() {
    #expect(SystemError(call: "connect", code: ECONNREFUSED).description == "connect: Connection refused")
    #expect(SystemError.fileEnded("/a/b").description.hasPrefix("read /a/b: "))
  }

  @Test("a system error with an unknown code is described with the code's number", arguments: [-1, 99_999] as [Int32])
  func unknown(code: Int32) {
    #expect(SystemError(call: "x", code: code).description.contains("\(code)"))
  }

  @Test("a system error's properties distinguish refused connections, resets and a lack of descriptors")
  func kinds() {
    let table: [(Int32, refused: Bool, reset: Bool, descriptors: Bool)] = [
      (ECONNREFUSED, true, false, false), (ECONNRESET, false, true, false), (EPIPE, false, true, false),
      (ECONNABORTED, false, true, false), (EMFILE, false, false, true), (ENFILE, false, false, true),
      (ENETUNREACH, false, false, false),
    ]
    for (code, refused, reset, descriptors) in table {
      let error = SystemError(call: "x", code: code)
      #expect(error.isConnectionRefused == refused)
      #expect(error.isConnectionReset == reset)
      #expect(error.isOutOfDescriptors == descriptors)
    }
  }
}
