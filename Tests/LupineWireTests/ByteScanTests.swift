// ByteScan against a loop that looks at each byte.

@testable import LupineWire
import Testing

@Suite("ByteScan")
struct ByteScanTests {
  @Test("the first control character is found for each byte at each position of 0 to 40 bytes")
  func everyByteEverywhere() {
    for count in 0...40 {
      var bytes = [UInt8](repeating: 0x61, count: count)
      expectAgreement(bytes)
      for position in 0..<count {
        for byte in UInt8.min...UInt8.max {
          bytes[position] = byte
          expectAgreement(bytes)
        }
        bytes[position] = 0x61
      }
    }
  }

  @Test(
    "bytes around a control character don't move it",
    arguments: [0x20, 0x7E, 0x7F, 0x80, 0x9F, 0xA0, 0xFF, 0] as [UInt8])
  func neighbours(filler: UInt8) {
    for byte in UInt8.min...UInt8.max {
      for position in 0..<17 {
        var bytes = [UInt8](repeating: 0x61, count: 17)
        for index in position..<17 { bytes[index] = filler }
        bytes[position] = byte
        expectAgreement(bytes)
      }
    }
  }

  @Test("each start is honoured")
  func starts() {
    let bytes = Array("ab\r\ncdefghijklmnop\u{7F}qrs\tuvwxyz\0".utf8)
    for start in 0...bytes.count { expectAgreement(bytes, from: start) }
  }

  @Test("random bytes")
  func random() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0x10...0x8F, using: &random)
      }
      expectAgreement(bytes, from: Int.random(in: 0...bytes.count, using: &random))
    }
  }

  private func expectAgreement(_ bytes: [UInt8], from start: Int = 0) {
    let expected = bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x7F } ?? bytes.count
    let found = ByteScan.firstControl(in: bytes.span, from: start)
    // #expect costs more than the scan itself, and there are 210,000 of them.
    if found != expected { Issue.record("\(found) instead of \(expected) from \(start) in \(bytes)") }
  }
}
