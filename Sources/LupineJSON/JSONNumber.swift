// JSONNumber: exact conversion of numbers (RFC 8259 §6) to integers and floating-point numbers.

/// The digits of a valid number, as `mantissa` × 10^`exponent`, unless it has more digits than fit.
struct JSONNumber {
  let bytes: JSONBytes
  private(set) var isNegative = false
  private(set) var mantissa: UInt64 = 0
  private(set) var exponent = 0
  /// Whether `mantissa` and `exponent` are the number's exact value.
  private(set) var isExact = true

  /// The largest number of digits for which no mantissa exceeds 64 bits.
  private static let digitsMax = 19
  /// Larger exponents than this make any number zero or infinite. The limit keeps the sums of exponents small.
  private static let exponentMax = 100_000

  /// Reads a number that the scanner has checked.
  @inline(__always)
  init(_ bytes: JSONBytes) {
    self.bytes = bytes
    var index = 0
    if bytes[0] == 0x2D {
      isNegative = true
      index = 1
    }
    let start = index
    readDigits(&index)
    var digits = index &- start
    if index < bytes.count { readRest(from: index, &digits) }
    if digits > Self.digitsMax { isExact = digits &- leadingZeros(from: start) <= Self.digitsMax && isExact }
  }

  @inline(__always)
  private mutating func readDigits(_ index: inout Int) {
    while index < bytes.count {
      let digit = bytes[index] &- 0x30
      guard digit < 10 else { break }
      mantissa = mantissa &* 10 &+ UInt64(digit)
      index &+= 1
    }
  }

  // Leading zeros aren't significant.
  private func leadingZeros(from start: Int) -> Int {
    bytes.buffer[start...].prefix { $0 == 0x30 || $0 == 0x2E }.count { $0 == 0x30 }
  }

  // Reads the fraction and the exponent.
  private mutating func readRest(from start: Int, _ digits: inout Int) {
    var index = start
    if bytes[index] == 0x2E {
      index &+= 1
      let start = index
      readDigits(&index)
      digits &+= index &- start
      exponent = start &- index
    }
    guard index < bytes.count else { return }
    index &+= 1
    var isBelowOne = false
    if bytes[index] == 0x2B || bytes[index] == 0x2D {
      isBelowOne = bytes[index] == 0x2D
      index &+= 1
    }
    var written = 0
    while index < bytes.count {
      if written < Self.exponentMax { written = written * 10 + Int(bytes[index] &- 0x30) }
      index &+= 1
    }
    exponent += isBelowOne ? -written : written
    // With a huge number of digits, an exponent that was cut here could still matter.
    if written >= Self.exponentMax { isExact = mantissa == 0 && isExact }
  }

  /// Whether all characters are zeros, apart from a sign and a point.
  private var isPlainZero: Bool { bytes.buffer.allSatisfy { $0 == 0x30 || $0 == 0x2D || $0 == 0x2E } }

  /// Whether the number has an exponent and rounds to zero as a Float. Foundation's JSONDecoder refuses some of these, such as 0e5.
  var isZeroWithExponent: Bool { bytes.buffer.contains { $0 | 0x20 == 0x65 } && nearestFloat() == 0 }

  /// Returns the nearest value, rounded half to even. Returns nil if the number rounds to infinity, or to zero although it isn't
  /// zero, and for zero with an exponent. Foundation's JSONDecoder refuses these numbers, the last in part.
  @inline(__always)
  func double() -> Double? {
    guard let value = nearestDouble(), value.isFinite else { return nil }
    guard value != 0 || isPlainZero else { return nil }
    return value
  }

  /// The nearest Float, with the same exceptions as `double()`. It is rounded once, not from the Double.
  func float() -> Float? {
    guard let value = nearestFloat(), value.isFinite else { return nil }
    guard value != 0 || isPlainZero else { return nil }
    return value
  }

  @inline(__always)
  func nearestDouble() -> Double? {
    // Up to these bounds, mantissa and power are exact, so that the result is rounded once (Clinger, "How to Read Floating Point
    // Numbers Accurately", 1990).
    if isExact, mantissa <= 1 << 53 {
      let magnitude = Double(mantissa)
      if exponent == 0 { return isNegative ? -magnitude : magnitude }
      if exponent < 0, exponent >= -22 {
        let value = magnitude / Self.powers[-exponent]
        return isNegative ? -value : value
      }
      if exponent > 0, exponent <= 22 {
        let value = magnitude * Self.powers[exponent]
        return isNegative ? -value : value
      }
    }
    return carefulDouble()
  }

  @inline(never)
  private func carefulDouble() -> Double? {
    guard isExact, let (significand, power) = rounded(toBits: 53) else { return Double(bytes.text) }
    // The power is -154...128, so the value is a normal number.
    let value = Double(sign: .plus, exponent: power, significand: Double(significand))
    return isNegative ? -value : value
  }

  private func nearestFloat() -> Float? {
    guard isExact else { return Float(bytes.text) }
    guard let (significand, power) = rounded(toBits: 24) else { return Float(bytes.text) }
    let value = Float(sign: .plus, exponent: power, significand: Float(significand))
    return isNegative ? -value : value
  }

  // Returns the number's magnitude as significand × 2^power, rounded half to even. 10^n is 5^n × 2^n, and a power of five below
  // 2^64 makes an exact product or quotient with remainder in 128 bits. Returns nil for other exponents.
  private func rounded(toBits bits: Int) -> (significand: UInt64, power: Int)? {
    guard mantissa != 0 else { return (0, 0) }
    guard exponent >= -27, exponent <= 27 else { return nil }
    let shift = mantissa.leadingZeroBitCount
    let normalized = mantissa << UInt64(shift)
    var wide: UInt128
    var power = exponent - shift
    var isInexact = false
    if exponent >= 0 {
      let (high, low) = normalized.multipliedFullWidth(by: Self.powersOfFive[exponent])
      wide = UInt128(high) << 64 | UInt128(low)
    } else {
      let divisor = UInt128(Self.powersOfFive[-exponent])
      let dividend = UInt128(normalized) << 64
      wide = dividend / divisor
      isInexact = wide * divisor != dividend
      power -= 64
    }
    // The quotient is at least 2^127 / 2^63, so it has more than `bits` bits.
    let excess = 128 - wide.leadingZeroBitCount - bits
    guard excess > 0 else {
      return isInexact ? nil : (UInt64(wide), power)
    }
    let rest = wide & (1 << UInt128(excess) - 1)
    let half: UInt128 = 1 << UInt128(excess - 1)
    wide >>= UInt128(excess)
    if rest > half || rest == half && (isInexact || wide & 1 == 1) { wide += 1 }
    return (UInt64(wide), power + excess)
  }

  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  private static let powersOfFive: [UInt64] = (0...27).map { exponent in
    (0..<exponent).reduce(1) { product, _ in product * 5 }
  }
}

extension FixedWidthInteger {
  /// Reads an integer, such as -12. Returns nil if the value doesn't fit, or has a sign and the type has none.
  @inline(__always)
  init?(json bytes: JSONBytes) {
    var index = 0
    var isNegative = false
    if bytes[0] == 0x2D {
      guard Self.isSigned else { return nil }
      isNegative = true
      index = 1
    }
    // No number of 18 digits exceeds 64 bits, with or without sign.
    guard bytes.count - index <= 18 else {
      guard let value = Self.long(bytes, from: index, isNegative: isNegative) else { return nil }
      self = value
      return
    }
    var magnitude: Int64 = 0
    while index < bytes.count {
      magnitude = magnitude &* 10 &+ Int64(bytes[index] &- 0x30)
      index &+= 1
    }
    self.init(exactly: isNegative ? 0 &- magnitude : magnitude)
  }

  // Not inlined, because each use would contain a copy.
  @inline(never)
  private static func long(_ bytes: JSONBytes, from start: Int, isNegative: Bool) -> Self? {
    var value: Self = 0
    for index in start..<bytes.count {
      let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Self(truncatingIfNeeded: bytes[index] &- 0x30)
      // A negative number is built from negative parts, because the smallest integer has no positive counterpart.
      let (next, overflows) =
        isNegative ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      guard !isTooLarge, !overflows else { return nil }
      value = next
    }
    return value
  }
}
