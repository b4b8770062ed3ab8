// Input: decodes the choices, numbers and texts of a target from an input's bytes.

@testable import LupineRandom

/// Reads values from a fuzzer's input, from its start. After the end of the input, all bytes are zero, so that every input is
/// valid.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  /// Reads a number from 0 to `bound - 1`. `bound` must be in 1...65,536.
  mutating func number(below bound: Int) -> Int {
    bound <= 256 ? Int(byte()) % bound : (Int(byte()) << 8 | Int(byte())) % bound
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + number(below: range.count) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }

  /// Reads one byte as a count, then reads and returns that number of bytes. Returns fewer at the end of the input.
  mutating func bytes() -> [UInt8] {
    let count = Int(byte())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Reads bytes as `bytes()` does, and returns them as text in which malformed UTF-8 is replaced by U+FFFD.
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

  /// Reads eight bytes, and returns them as an integer in big-endian order.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// The bytes that haven't been read yet, as lines without their line feeds.
  var lines: [[UInt8]] { rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init) }
}

/// Cuts bytes into pieces, to simulate data that arrives in parts. The positions of the cuts depend on the bytes that the
/// initializer gets, so they differ between inputs.
struct Cutter {
  private var random: SplitMix64

  init(_ bytes: some Sequence<UInt8>) {
    // The FNV-1a hash of the bytes is the seed.
    random = SplitMix64(seed: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { random.number(range) }

  /// Cuts the bytes into pieces of 0 to `sizeMax` bytes.
  mutating func pieces(_ bytes: [UInt8], sizeMax: Int = 20) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + number(0...sizeMax))
      pieces.append(Array(bytes[start..<end]))
      start = end
    }
    return pieces
  }

  /// Returns four ways to cut the bytes: not at all, into single bytes, into random pieces, and into two pieces.
  mutating func waysToCut(_ bytes: [UInt8]) -> [[[UInt8]]] {
    let middle = number(0...bytes.count)
    return [[bytes], bytes.map { [$0] }, pieces(bytes), [Array(bytes[..<middle]), Array(bytes[middle...])]]
  }
}
