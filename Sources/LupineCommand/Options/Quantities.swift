// Quantities: formats numbers and columns for display.

extension Duration {
  /// The duration in milliseconds with three decimals, such as "12.345".
  var millisecondsText: String {
    let (seconds, attoseconds) = components
    let microseconds = attoseconds / 1_000_000_000_000
    let thousandths = String(microseconds % 1000 + 1000).dropFirst()
    return "\(seconds * 1000 + microseconds / 1000).\(thousandths)"
  }
}

extension UInt64 {
  /// The number of bytes with a binary unit and one decimal, such as "1.5 MiB".
  var bytesText: String {
    guard self >= 1024 else { return "\(self) B" }
    var shift: UInt64 = 10
    var units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
    while shift < 60, self >> shift >= 1024 {
      shift += 10
      units.removeFirst()
    }
    // The remainder is less than 2^60, so ten times the remainder fits.
    let tenths = ((self & ((1 << shift) - 1)) * 10) >> shift
    return "\(self >> shift).\(tenths) \(units.first ?? "")"
  }
}

extension String {
  /// Returns the text, padded with trailing spaces to `width` characters.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }

  /// Returns the text, padded with leading spaces to `width` characters.
  func indented(to width: Int) -> String {
    String(repeating: " ", count: max(width - count, 0)) + self
  }
}
