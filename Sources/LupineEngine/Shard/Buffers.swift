// Room that a loop reads into.

/// Room to read into, taken while it is in use, so that a nested use gets its own.
struct Buffers {
  /// 64 KiB: four TLS records, or what a loopback socket usually has at once.
  static let byteCount = 64 * 1024

  /// As deep as uses are nested, but for rare chains of connections that turn out to be closed.
  private static let freeCountMax = 8

  private var free: [[UInt8]] = []

  mutating func take() -> [UInt8] {
    free.popLast() ?? [UInt8](repeating: 0, count: Self.byteCount)
  }

  mutating func put(_ buffer: consuming [UInt8]) {
    if free.count < Self.freeCountMax { free.append(buffer) }
  }
}
