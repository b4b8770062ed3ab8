// NumberTests: numbers are converted exactly.

import Foundation
import LupineRandom
import LupineTestSupport
import Testing

@testable import LupineJSON

@Suite struct NumberTests {
  private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T? {
    try JSONDecoding.decode(type, from: Array(text.utf8).span, JSONDecodingOptions())
  }

  @Test("every double that Swift prints is read as the same double")
  func roundTrip() throws {
    var random = SplitMix64(seed: 7)
    var doubles: [Double] = [
      0, -0.0, 1, .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .pi, 0.1, 1e22, 1e23,
      9_007_199_254_740_992, 1.7976931348623157e308,
    ]
    for _ in 0..<repetitions(of: 100_000) {
      doubles.append(Double(bitPattern: random.next()))
      // With few digits, as most numbers in documents.
      doubles.append(
        Double(random.number(-1_000_000...1_000_000)) / Double(random.pick([1, 10, 100, 1000, 1_000_000])))
    }
    for double in doubles where double.isFinite && double != 0 {
      #expect(try decode(Double.self, "\(double)")?.bitPattern == double.bitPattern)
      let float = Float(double)
      if float.isFinite, float != 0 { #expect(try decode(Float.self, "\(float)")?.bitPattern == float.bitPattern) }
    }
    #expect(try decode(Double.self, "-0.0")?.sign == .minus)
  }

  @Test("numbers with any digits and exponents are rounded as by the C library")
  func rounding() throws {
    var random = SplitMix64(seed: 8)
    for _ in 0..<repetitions(of: 50_000) {
      // Digits in the middle between two doubles are the hardest.
      let double = Double(bitPattern: random.next() & ~(0xFFF << 52) | UInt64(random.number(900...1150)) << 52)
      var text = "\(random.next() % 10)"
      switch random.number(0...3) {
      case 0: text = "\(double)" + "5"
      case 1: text = "\(random.next())e\(random.number(-45...45))"
      case 2:
        text = "\(random.next() >> UInt64(random.number(0...60))).\(random.next() >> UInt64(random.number(0...60)))"
      default: text = "\(random.next()).\(random.next())e\(random.number(-330...310))"
      }
      let expected = strtod(text, nil)
      guard expected.isFinite, expected != 0 else { continue }
      #expect(try decode(Double.self, text)?.bitPattern == expected.bitPattern, "\(text)")
      let float = strtof(text, nil)
      guard float.isFinite, float != 0 else { continue }
      #expect(try decode(Float.self, text)?.bitPattern == float.bitPattern, "\(text)")
    }
  }

  @Test("integers that don't fit their type are no values")
  func integers() throws {
    #expect(try decode(Int8.self, "127") == 127)
    #expect(throws: (any Error).self) { try decode(Int8.self, "128") }
    #expect(try decode(Int64.self, "-9223372036854775808") == .min)
    #expect(throws: (any Error).self) { try decode(Int64.self, "9223372036854775808") }
    #expect(try decode(UInt64.self, "18446744073709551615") == .max)
    for text in ["18446744073709551616", "36893488147419103232", "184467440737095516160", "-1"] {
      #expect(throws: (any Error).self, "\(text)") { try decode(UInt64.self, text) }
      if text != "-1" { #expect(throws: (any Error).self, "\(text)") { try decode(Int.self, text) } }
    }
    #expect(try decode(Int128.self, "-170141183460469231731687303715884105728") == .min)
    #expect(try decode(UInt128.self, "340282366920938463463374607431768211455") == .max)
    #expect(throws: (any Error).self) { try decode(UInt128.self, "340282366920938463463374607431768211456") }
  }

  @Test("a number with an integral value is an integer")
  func integralNumbers() throws {
    #expect(try decode(Int.self, "1.0") == 1)
    #expect(try decode(Int.self, "12e2") == 1200)
    #expect(try decode(UInt8.self, "-0") == 0)
    #expect(throws: (any Error).self) { try decode(Int.self, "1.5") }
    // Beyond 2^53, only Foundation knows the value that it returns.
    #expect(throws: (any Error).self) { try decode(Int.self, "9007199254740993.0") }
  }

  @Test("numbers that round to zero or infinity are no values")
  func extremes() {
    for text in ["1e400", "-1e400", "1e-400", "1e99999999999999999999", "1e-99999999999999999999"] {
      #expect(throws: (any Error).self, "\(text)") { try decode(Double.self, text) }
    }
  }
}
