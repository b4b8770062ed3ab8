// Buffers: reusable buffers for received bytes and serialized heads.

/// The buffers that one event loop reuses to avoid allocations.
struct Buffers {
  /// The size in bytes of a read buffer: 64 KiB, which is four TLS records, and what a loopback socket usually has available.
  static let byteCount = 64 * 1024
  /// The size in bytes of a bulk buffer, for long unencrypted bodies and for decoded bodies: 256 KiB. Compared with read buffers,
  /// bulk buffers reduce the system calls, and the transfers between threads, to a quarter.
  static let bulkByteCount = 256 * 1024
  /// The maximum number of unused read buffers that are kept for reuse: 8. More than 8 nested reads are rare, except when many
  /// connections in a row turn out to be closed.
  private static let freeCountMax = 8

  /// The maximum size of a head's buffer that is kept for reuse: 4 KiB, which suffices for most heads. With `headCountMax`, these
  /// buffers take at most 256 KiB. Larger buffers are freed.
  private static let headBytesMax = 4 * 1024
  private static let headCountMax = 64

  private var free: [[UInt8]] = []
  private var bulk: [UInt8]?
  private var heads: [[UInt8]] = []

  /// Lends a read buffer of `byteCount` bytes or, if `count` exceeds `byteCount`, of `bulkByteCount` bytes. The buffer isn't lent
  /// again until the caller passes it to `giveBack`.
  mutating func borrow(_ count: Int = byteCount) -> [UInt8] {
    count > Self.byteCount
      ? bulk.take() ?? [UInt8](repeating: 0, count: Self.bulkByteCount)
      : free.popLast() ?? [UInt8](repeating: 0, count: Self.byteCount)
  }

  /// Takes back a read buffer and keeps it for reuse, leaving an empty array in its place. Ignores an empty array.
  mutating func giveBack(_ buffer: inout [UInt8]) {
    guard !buffer.isEmpty else { return }
    let taken = exchange(&buffer, with: [])
    if taken.count == Self.bulkByteCount {
      bulk = taken
    } else if free.count < Self.freeCountMax {
      free.append(taken)
    }
  }

  /// Returns an empty buffer for the head of a request.
  mutating func borrowHead() -> [UInt8] {
    if let buffer = heads.popLast() { return buffer }
    var buffer: [UInt8] = []
    buffer.reserveCapacity(512)
    return buffer
  }

  /// Takes back the buffer of a head. Keeps it for reuse, unless it is too large or enough buffers are kept.
  mutating func giveBackHead(_ buffer: consuming [UInt8]) {
    if heads.count < Self.headCountMax, 1...Self.headBytesMax ~= buffer.capacity { heads.append(buffer) }
  }
}
