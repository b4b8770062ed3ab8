// RecordName: the names of record files, which contain all information that the index needs.

internal import LupineWire

/// The name of a record's file. It contains the key of the record's URI, the record's identifier and its size in hexadecimal
/// digits, such as `0123456789abcdef-0123456789abcdef-1f3a.lupine`.
package struct RecordName: Sendable, Hashable {
  package let key: UInt64
  package let id: UInt64
  package let byteCount: UInt64

  /// The size of a disk's blocks in bytes: 4,096, the default of ext4, XFS and APFS.
  static let diskBlockByteCount: UInt64 = 4_096

  /// The disk space in bytes that the file occupies: its size, rounded up to whole blocks.
  package var occupiedByteCount: Int {
    let remainder = byteCount % Self.diskBlockByteCount
    return Int(clamping: remainder == 0 ? byteCount : byteCount - remainder + Self.diskBlockByteCount)
  }

  private static let suffix = ".lupine"
  private static let temporaryPrefix = "new-"

  package init(key: UInt64, id: UInt64, byteCount: UInt64) {
    self.key = key
    self.id = id
    self.byteCount = byteCount
  }

  /// Parses the name of a file. Returns nil if it isn't the valid name of a record's file.
  package init?(_ text: String) {
    guard text.hasSuffix(Self.suffix) else { return nil }
    let parts = text.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].utf8.count == 16, parts[1].utf8.count == 16, let key = UInt64(parts[0], radix: 16),
      let id = UInt64(parts[1], radix: 16), let byteCount = UInt64(parts[2], radix: 16), byteCount <= UInt64(Int64.max)
    else { return nil }
    self.init(key: key, id: id, byteCount: byteCount)
    // Each record has exactly one valid name. Names with uppercase letters, signs or additional zeros are refused.
    guard self.text == text else { return nil }
  }

  package var text: String {
    "\(key.hexDigits())-\(id.hexDigits())-\(String(byteCount, radix: 16))\(Self.suffix)"
  }

  /// Returns the name of the temporary file to which a record is written.
  static func temporary(_ id: UInt64) -> String { temporaryPrefix + id.hexDigits() + suffix }

  static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(temporaryPrefix) && name.hasSuffix(suffix)
      && name.utf8.count == temporaryPrefix.utf8.count + 16 + suffix.utf8.count
  }
}
