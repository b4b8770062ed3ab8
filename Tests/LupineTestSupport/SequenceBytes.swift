// SequenceBytes: bytes for bodies in tests, which depend on their positions.

/// An endless sequence of bytes for bodies. It repeats after `period` bytes.
package enum SequenceBytes {
  package static let period = 65_536

  private static let block = (0..<period).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) }

  /// Returns `count` bytes, from an offset of the sequence on. The bytes are copied, because computing each of them takes long in a
  /// debug build, and longer under a sanitizer.
  package static func bytes(from offset: Int, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += block[((offset + bytes.count) % block.count)...].prefix(count - bytes.count) }
    return bytes
  }
}
