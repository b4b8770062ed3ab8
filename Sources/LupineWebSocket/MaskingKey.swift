// MaskingKey: the mask of a client's frame (RFC 6455 §5.3), and the scan for ASCII bytes. The only file of this target that reads
// memory in units of several bytes.

/// The key that masks the payload of one frame. Each frame gets a new key from a strong source of randomness, so that a script can't
/// choose the bytes that a proxy sees (RFC 6455 §10.3).
package struct MaskingKey: Sendable, Equatable {
  /// The four octets of the key, in the order in which they are sent.
  package let octets: (UInt8, UInt8, UInt8, UInt8)

  /// Creates a key whose first octet is the most significant byte of `value`.
  package init(_ value: UInt32) {
    octets = (
      UInt8(truncatingIfNeeded: value >> 24), UInt8(truncatingIfNeeded: value >> 16),
      UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)
    )
  }

  package static func == (left: MaskingKey, right: MaskingKey) -> Bool { left.octets == right.octets }

  /// Masks the bytes from index `start` to the end of the array, where `start` is the first byte of the payload. Masking the bytes
  /// again restores them.
  package func apply(to bytes: inout [UInt8], from start: Int) {
    let word =
      UInt64(octets.0) | UInt64(octets.1) << 8 | UInt64(octets.2) << 16 | UInt64(octets.3) << 24
    // The octets in the order of their addresses, on any processor.
    let pattern = SIMD4(repeating: (word | word << 32).littleEndian)
    // SAFETY: the loads and stores stay within the buffer, whose bytes are initialized, and need no alignment.
    bytes.withUnsafeMutableBytes { buffer in
      var index = start
      while index + 32 <= buffer.count {
        let part = buffer.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
        buffer.storeBytes(of: part ^ pattern, toByteOffset: index, as: SIMD4<UInt64>.self)
        index += 32
      }
      // 32 is a multiple of the key's length, so the rest starts with the first octet.
      for rest in index..<max(index, buffer.count) { buffer[rest] ^= self[rest - index] }
    }
  }

  private subscript(index: Int) -> UInt8 {
    switch index & 3 {
    case 0: octets.0
    case 1: octets.1
    case 2: octets.2
    default: octets.3
    }
  }
}

extension Span<UInt8> {
  /// Returns the index of the first byte from `start` on that isn't ASCII, or the count if there is none.
  func endOfASCII(from start: Int) -> Int {
    // SAFETY: the loads stay within the buffer and need no alignment.
    withUnsafeBytes { buffer in
      var index = start
      while index + 32 <= buffer.count {
        let word = buffer.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
        guard word & SIMD4(repeating: 0x8080_8080_8080_8080) == .zero else { break }
        index += 32
      }
      while index < buffer.count, buffer[index] < 0x80 { index += 1 }
      return index
    }
  }
}

extension [UInt8] {
  /// Appends a copy of the bytes at the positions `range`.
  mutating func append(copying bytes: borrowing Span<UInt8>, _ range: Range<Int>) {
    // SAFETY: the buffer is only used inside the closure.
    bytes.extracting(range).withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}
