// NumberText: numbers and durations as text and as bytes, without Foundation and independent of the locale.

#if Bench
  extension FixedWidthInteger {
    /// The bytes of the number, the most significant one first.
    var bigEndianBytes: [UInt8] {
      stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
  }

  extension Double {
    /// The number with a fixed number of decimals, rounded.
    func text(_ decimals: Int) -> String {
      guard isFinite else { return "0" }
      var scale = 1.0
      for _ in 0..<decimals { scale *= 10 }
      let scaled = (magnitude * scale).rounded()
      // Beyond 2^53, a Double has no decimals.
      guard scaled < 0x1p53 else { return "\(self)" }
      let digits = String(Int64(scaled))
      let sign = self < 0 && scaled > 0 ? "-" : ""
      guard decimals > 0 else { return sign + digits }
      let padded = String(repeating: "0", count: Swift.max(0, decimals + 1 - digits.count)) + digits
      return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }

    /// The number with at most `decimals` decimals, rounded, without needless zeros.
    func text(atMost decimals: Int) -> String {
      var text = text(decimals)
      guard text.contains(".") else { return text }
      while text.last == "0" { text.removeLast() }
      if text.last == "." { text.removeLast() }
      return text
    }
  }

  extension Duration {
    var seconds: Double { self / .seconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }

    /// The duration with three significant digits and a unit, such as `1.25 ms`.
    var text: String {
      let microseconds = self / .microseconds(1)
      switch microseconds {
      case ..<999.5: return "\(Self.threeDigits(microseconds)) µs"
      case ..<999_500: return "\(Self.threeDigits(microseconds / 1e3)) ms"
      default: return "\(Self.threeDigits(microseconds / 1e6)) s"
      }
    }

    private static func threeDigits(_ value: Double) -> String {
      value.text(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)
    }
  }

  extension UInt64 {
    /// The number of bytes with a unit, such as `1.2 MB`. k, M and G are powers of 1,000.
    var bytesText: String {
      switch self {
      case ..<1_000: "\(self) B"
      case ..<1_000_000: "\((Double(self) / 1e3).text(1)) kB"
      case ..<1_000_000_000: "\((Double(self) / 1e6).text(1)) MB"
      default: "\((Double(self) / 1e9).text(1)) GB"
      }
    }
  }

  extension String {
    func right(_ width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }
    func left(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
  }
#endif
