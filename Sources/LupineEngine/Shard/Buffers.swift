// Room that a loop reads into, and room that it writes heads into.

/// Memory that is used again and again.
struct Buffers {
  /// 64 KiB: four TLS records, or what a loopback socket usually has at once.
  static let byteCount = 64 * 1024
  /// 256 KiB, for bodies in clear that are longer and for decoded ones: a quarter of the system calls, and of the
  /// hand-overs to other threads.
  static let bulkByteCount = 256 * 1024
  /// As deep as uses are nested, but for rare chains of connections that turn out to be closed.
  private static let freeCountMax = 8

  /// Most heads are smaller; the room of one that isn't goes with it. 4 KiB, with which 64 take 256 KiB.
  private static let headBytesMax = 4 * 1024
  private static let headCountMax = 64

  private var free: [[UInt8]] = []
  private var bulk: [UInt8]?
  private var heads: [[UInt8]] = []

  /// Room for at least so many bytes that are read, `bulkByteCount` at the most; taken while it is in use, so that a nested
  /// use gets its own.
  mutating func take(_ count: Int = byteCount) -> [UInt8] {
    count > Self.byteCount
      ? bulk.take() ?? [UInt8](repeating: 0, count: Self.bulkByteCount)
      : free.popLast() ?? [UInt8](repeating: 0, count: Self.byteCount)
  }

  /// Takes the room back, if there was any.
  mutating func put(_ buffer: consuming [UInt8]) {
    if buffer.count == Self.bulkByteCount {
      bulk = buffer
    } else if !buffer.isEmpty, free.count < Self.freeCountMax {
      free.append(buffer)
    }
  }

  /// Room to write a head into.
  mutating func takeHead() -> [UInt8] {
    if let buffer = heads.popLast() { return buffer }
    var buffer: [UInt8] = []
    buffer.reserveCapacity(512)
    return buffer
  }

  /// Takes the room back.
  mutating func putHead(_ buffer: consuming [UInt8]) {
    if heads.count < Self.headCountMax, 1...Self.headBytesMax ~= buffer.capacity { heads.append(buffer) }
  }
}
