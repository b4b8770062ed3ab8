// DeflateDistances: a small decoder of deflate (RFC 1951), which finds the longest distance that coded data refers back.

enum DeflateDistances {
  struct Malformed: Error {}

  private struct Bits {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position >= bytes.count * 8 }

    mutating func take(_ count: Int) throws -> Int {
      var value = 0
      for index in 0..<count {
        guard position < bytes.count * 8 else { throw Malformed() }
        value |= Int(bytes[position >> 3] >> (position & 7) & 1) << index
        position += 1
      }
      return value
    }
  }

  /// A Huffman code as a table from (length, code) to symbol.
  private struct Code {
    private var symbols: [Int: Int] = [:]

    // RFC 1951 §3.2.2
    init(_ lengths: [Int]) {
      var counts = [Int](repeating: 0, count: 16)
      for length in lengths where length > 0 { counts[length] += 1 }
      var next = [Int](repeating: 0, count: 17)
      for length in 1...15 { next[length + 1] = (next[length] + counts[length]) << 1 }
      for (symbol, length) in lengths.enumerated() where length > 0 {
        symbols[length << 16 | next[length]] = symbol
        next[length] += 1
      }
    }

    func next(_ bits: inout Bits) throws -> Int {
      var code = 0
      for length in 1...15 {
        code = code << 1 | (try bits.take(1))
        if let symbol = symbols[length << 16 | code] { return symbol }
      }
      throw Malformed()
    }
  }

  /// Returns the longest distance in a message, whose flush tail is missing.
  static func longest(in message: [UInt8]) throws -> Int {
    var bits = Bits(bytes: message + [0x00, 0x00, 0xff, 0xff])
    var longest = 0
    var isFinal = false
    while !isFinal, bits.position + 3 <= bits.bytes.count * 8 {
      isFinal = try bits.take(1) == 1
      switch try bits.take(2) {
      case 0:
        bits.position = (bits.position + 7) & ~7
        let length = try bits.take(16)
        _ = try bits.take(16)
        bits.position += length * 8
      case 1:
        let literals = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        longest = max(longest, try block(Code(literals), Code([Int](repeating: 5, count: 30)), &bits))
      case 2:
        let (literals, distances) = try codes(&bits)
        longest = max(longest, try block(literals, distances, &bits))
      default: throw Malformed()
      }
    }
    return longest
  }

  // RFC 1951 §3.2.7
  private static func codes(_ bits: inout Bits) throws -> (Code, Code) {
    let (literalCount, distanceCount) = (try bits.take(5) + 257, try bits.take(5) + 1)
    let lengthCount = try bits.take(4) + 4
    var lengthLengths = [Int](repeating: 0, count: 19)
    for index in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(lengthCount) {
      lengthLengths[index] = try bits.take(3)
    }
    let code = Code(lengthLengths)
    var lengths: [Int] = []
    while lengths.count < literalCount + distanceCount {
      switch try code.next(&bits) {
      case 16: lengths += [Int](repeating: lengths.last ?? 0, count: try bits.take(2) + 3)
      case 17: lengths += [Int](repeating: 0, count: try bits.take(3) + 3)
      case 18: lengths += [Int](repeating: 0, count: try bits.take(7) + 11)
      case let length: lengths.append(length)
      }
    }
    return (Code(Array(lengths[..<literalCount])), Code(Array(lengths[literalCount...])))
  }

  // RFC 1951 §3.2.5
  private static func block(_ literals: Code, _ distances: Code, _ bits: inout Bits) throws -> Int {
    var longest = 0
    while true {
      let symbol = try literals.next(&bits)
      if symbol == 256 { return longest }
      guard symbol > 256 else { continue }
      let extra = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4
      _ = try bits.take(extra)
      let distance = try distances.next(&bits)
      let distanceExtra = max(0, distance / 2 - 1)
      let base = distance < 4 ? distance + 1 : (2 + distance % 2) << distanceExtra + 1
      longest = max(longest, base + (try bits.take(distanceExtra)))
    }
  }
}
