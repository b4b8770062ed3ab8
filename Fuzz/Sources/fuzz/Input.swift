// Input: decodes the choices, numbers and texts of a target from an input's bytes.

@testable import LupineRandom

/// Consumes an input from its front. After the end of the input, all bytes are zero, so that every input is valid.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  /// Returns a number below `bound`, which must be in 1...65,536.
  mutating func number(below bound: Int) -> Int {
    bound <= 256 ? Int(byte()) % bound : (Int(byte()) << 8 | Int(byte())) % bound
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + number(below: range.count) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }

  /// Consumes a byte as a count, then returns that number of bytes, or fewer at the end of the input.
  mutating func bytes() -> [UInt8] {
    let count = Int(byte())
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Returns the result of `bytes()` as text. Malformed UTF-8 becomes U+FFFD.
  mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

  /// Returns an integer from the next eight bytes.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// The remaining bytes, as lines without their line feeds.
  var lines: [[UInt8]] { rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init) }
}

/// Cuts bytes into pieces. The positions depend on the bytes, so that they differ between inputs.
struct Cutter {
  private var random: SplitMix64

  init(_ bytes: some Sequence<UInt8>) {
    // FNV-1a.
    random = SplitMix64(seed: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { random.number(range) }

  /// Returns pieces of 0 to `sizeMax` bytes.
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
