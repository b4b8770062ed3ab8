// ByteScanTests: compares ByteScan with a scan that looks at one byte at a time.

import LupineTestSupport
import Testing

@testable import LupineWire

@Suite("ByteScan")
struct ByteScanTests {
  @Test("ByteScan finds the first control character and the end of a token, for each byte at each of 40 positions")
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
    "ByteScan finds a control character at the same position, whatever bytes surround the character",
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

  @Test("ByteScan searches for control characters from the given position on")
  func starts() {
    let bytes = Array("ab\r\ncdefghijklmnop\u{7F}qrs\tuvwxyz\0".utf8)
    for start in 0...bytes.count { expectAgreement(bytes, from: start) }
  }

  @Test("ByteScan finds the same control characters in random bytes as a simple loop")
  func random() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0x10...0x8F, using: &random)
      }
      expectAgreement(bytes, from: Int.random(in: 0...bytes.count, using: &random))
    }
  }

  @Test("ByteScan finds the end of a field name that contains letters, digits and punctuation")
  func names() {
    for name in ["A", "ETag", "Content-Type", "X-Request-Id-64", "p3p", "!#$%&'*+-.^_`|~", "a_long.name~With*all+"] {
      for end in [":", " ", "\r\n", "(", "\u{7F}", "é"] { expectAgreement(Array("\(name)\(end): value".utf8)) }
    }
  }

  @Test(
    "ByteScan compares field names without regard to letter case, and treats no other characters as equal",
    arguments: [
      "", "a", "upgrade", "trailers", "forwarded", "content-length", "`{|}~@[1-_", "transfer-encoding",
      "strict-transport-security",
    ] as [StaticString])
  func matching(name: StaticString) {
    let expected = name.withUTF8Buffer { Array($0) }
    // The bytes on both sides of the name must not affect the comparison.
    var bytes = Array("xy".utf8) + expected + Array("zz".utf8)
    let place = 2..<2 + expected.count
    if !ByteScan.matches(bytes.span.extracting(place), name) { Issue.record("\(name) doesn't match itself") }
    for position in expected.indices {
      for byte in UInt8.min...UInt8.max {
        bytes[2 + position] = byte
        let isSame = Byte.lowercased(byte) == expected[position]
        if ByteScan.matches(bytes.span.extracting(place), name) != isSame {
          Issue.record("wrong answer for byte \(byte) at position \(position) of \(name)")
        }
      }
      bytes[2 + position] = expected[position]
    }
    if ByteScan.matches(bytes.span.extracting(2..<3 + expected.count), name) {
      Issue.record("\(name) matches itself with a byte appended")
    }
  }

  private func expectAgreement(_ bytes: [UInt8], from start: Int = 0) {
    let control = bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x7F } ?? bytes.count
    let nonToken = bytes[start...].firstIndex { !CharacterClass.token.contains($0) } ?? bytes.count
    let span = bytes.span
    let found = (ByteScan.firstControl(in: span, from: start), ByteScan.firstNonToken(in: span, from: start))
    // This check runs 210,000 times, and #expect would cost more than the scan itself.
    if found != (control, nonToken) {
      Issue.record("\(found) instead of \((control, nonToken)) from \(start) in \(bytes)")
    }
  }
}
