// RecordReader: reads a record from its file, and verifies the checksum of all data before returning it.

package import LupineCache
internal import LupineReactor

/// Reads a record of the disk store. The record remains readable even if another process removes its file. Its file is open until
/// this object is released.
package final class RecordReader: Sendable {
  package let id: UInt64
  package let uri: String
  package let response: StoredResponse
  private let file: File
  private let bodyOffset: UInt64

  /// Opens a record's file and reads its head. Throws `.damaged` if the file isn't a record in this format, has the wrong size, or
  /// contains another record than its name states.
  init(_ name: RecordName, in store: DiskStore) throws(DiskStoreError) {
    let file = try DiskStoreError.wrapping { () throws(SystemError) in try File(reading: name.text, in: store.folder) }
    let byteCount = try DiskStoreError.wrapping { () throws(SystemError) in try file.byteCount() }
    let start = try Self.read(file, RecordFormat.preambleByteCount, at: 0)
    guard let preamble = RecordPreamble(start), preamble.fileByteCount == byteCount, byteCount == name.byteCount,
      preamble.id == name.id
    else {
      throw .damaged
    }
    let bytes = try Self.read(file, preamble.headByteCount, at: UInt64(RecordFormat.preambleByteCount))
    guard preamble.matches(bytes), let head = RecordHead(bytes, bodyByteCount: preamble.bodyByteCount),
      store.key(of: head.uri) == name.key
    else { throw .damaged }
    id = preamble.id
    uri = head.uri
    response = head.response
    bodyOffset = UInt64(RecordFormat.preambleByteCount + preamble.headByteCount)
    self.file = file
  }

  /// The number of blocks in the record's body.
  package var blockCount: UInt64 {
    let size = UInt64(RecordFormat.blockByteCount)
    return response.bodyByteCount / size + (response.bodyByteCount % size == 0 ? 0 : 1)
  }

  /// Reads a block of the record's body. `number` is in 0..<`blockCount`. Throws `.damaged` if the block's checksum is wrong.
  package func block(_ number: UInt64) throws(DiskStoreError) -> [UInt8] {
    precondition(number < blockCount, "the body has no such block")
    let start = number * UInt64(RecordFormat.blockByteCount)
    let count = Int(min(UInt64(RecordFormat.blockByteCount), response.bodyByteCount - start))
    let offset = bodyOffset + start + number * UInt64(RecordFormat.checksumByteCount)
    var bytes = try Self.read(file, count + RecordFormat.checksumByteCount, at: offset)
    guard bytes.count == count + RecordFormat.checksumByteCount else { throw .damaged }
    let stored = bytes[count...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    bytes.removeLast(RecordFormat.checksumByteCount)
    guard stored == RecordFormat.checksum(bytes.span, number: number, id: id) else { throw .damaged }
    return bytes
  }

  /// Reads a range of the record's body, and calls `receive` with its pieces, of at most a block each, as long as `isWanted` returns
  /// true. Throws `.damaged` if the checksum of a block is wrong, and the errors of `receive`.
  package func read(
    _ range: Range<UInt64>, while isWanted: () -> Bool = { true },
    _ receive: (borrowing Span<UInt8>) throws(DiskStoreError) -> Void
  ) throws(DiskStoreError) {
    let size = UInt64(RecordFormat.blockByteCount)
    var offset = range.lowerBound
    while offset < range.upperBound, isWanted() {
      let block = try block(offset / size)
      let start = Int(offset % size)
      let end = Int(min(UInt64(block.count), range.upperBound - offset + UInt64(start)))
      try receive(block.span.extracting(start..<end))
      offset += UInt64(end - start)
    }
  }

  /// Reads `count` bytes of the file, or fewer at its end.
  private static func read(_ file: borrowing File, _ count: Int, at offset: UInt64) throws(DiskStoreError) -> [UInt8] {
    try DiskStoreError.wrapping { () throws(SystemError) in try file.read(upTo: count, at: offset) }
  }
}
