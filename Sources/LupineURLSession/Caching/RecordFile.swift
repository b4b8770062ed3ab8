// RecordFile: the open file of a stored response.

import Foundation
import LupineCache
import LupineCacheStore

/// The open file of a stored response, from which its body is read.
final class RecordFile: Sendable {
  let reader: RecordReader

  init(_ reader: consuming RecordReader) { self.reader = reader }

  var byteCount: UInt64 { reader.response.bodyByteCount }

  /// Reads the block of the file that contains the byte of the body at `offset`. Returns the body's bytes from `offset` to the end
  /// of that block. `offset` must be less than `byteCount`.
  func bytes(from offset: UInt64) throws(DiskStoreError) -> Data {
    let size = UInt64(RecordFormat.blockByteCount)
    return Data(try reader.block(offset / size).dropFirst(Int(offset % size)))
  }

  /// Reads the entire body from the file.
  func contents() throws(DiskStoreError) -> Data {
    var data = Data()
    for number in 0..<reader.blockCount { data.append(contentsOf: try reader.block(number)) }
    return data
  }
}
