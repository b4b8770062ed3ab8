// UTF8ValidatorTests: UTF-8 in pieces, compared with the standard library.

import LupineRandom
import Testing

@testable import LupineWebSocket

@Suite("UTF-8 in pieces")
struct UTF8ValidatorTests {
  private func isValid(_ pieces: [ArraySlice<UInt8>]) -> Bool {
    var validator = UTF8Validator()
    for piece in pieces where !validator.accept(Array(piece).span) { return false }
    return validator.isComplete
  }

  private func compare(_ bytes: [UInt8]) {
    let expected = String(validating: bytes, as: UTF8.self) != nil
    #expect(isValid([bytes[...]]) == expected, "\(bytes)")
    for split in 1..<max(bytes.count, 1) {
      #expect(isValid([bytes[..<split], bytes[split...]]) == expected, "\(bytes) at \(split)")
    }
  }

  @Test("any byte with typical and extreme continuations is accepted exactly if the standard library accepts it")
  func exhaustive() {
    let continuations: [UInt8] = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]
    for first in UInt8.min...UInt8.max {
      compare([first])
      for second in continuations {
        compare([first, second])
        for third in continuations {
          compare([first, second, third])
          for fourth in continuations {
            let bytes = [first, second, third, fourth]
            #expect(isValid([bytes[...]]) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
          }
        }
      }
    }
  }

  @Test("long ASCII text with one other byte at any place is accepted exactly if the standard library accepts it")
  func long() {
    for place in 0..<70 {
      for inserted: [UInt8] in [[0xc3, 0xa9], [0xf0, 0x9f, 0x98, 0x80], [0x80], [0xed, 0xa0, 0x80]] {
        var bytes = [UInt8](repeating: 0x61, count: 70)
        bytes.insert(contentsOf: inserted, at: place)
        compare(bytes)
      }
    }
  }

  @Test("an invalid byte is found before the character's other bytes arrive")
  func early() {
    var validator = UTF8Validator()
    let pieces: [[UInt8]] = [[0xf4], [0x90]]
    let verdicts = pieces.map { validator.accept($0.span) }
    #expect(verdicts == [true, false])
  }
}
