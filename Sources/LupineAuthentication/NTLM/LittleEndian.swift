// LittleEndian: integers in the byte order of NTLM's messages and of MD4.

extension [UInt8] {
  /// Appends the bytes of an integer, least significant byte first.
  mutating func append(littleEndian integer: some FixedWidthInteger) {
    for shift in stride(from: 0, to: integer.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: integer >> shift)) }
  }

  /// Returns the 32-bit little-endian integer that begins at the index `position`, which must be at least 4 bytes before the end.
  func littleEndianWord(at position: Int) -> UInt32 {
    (0..<4).reduce(0) { word, index in word | UInt32(self[position + index]) << UInt32(8 * index) }
  }

  /// Returns the 16-bit little-endian integer that begins at the index `position`, which must be at least 2 bytes before the end.
  func littleEndianHalf(at position: Int) -> UInt16 { UInt16(self[position]) | UInt16(self[position + 1]) << 8 }
}
