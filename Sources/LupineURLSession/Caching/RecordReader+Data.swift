// RecordReader+Data: the body of a stored response as Data.

import Foundation
import LupineCache
import LupineCacheStore

extension RecordReader {
  /// Reads the block of the file that contains the byte of the body at `offset`. Returns the body's bytes from `offset` to the end
  /// of that block. `offset` must be less than the body's size.
  func bytes(from offset: UInt64) throws(DiskStoreError) -> Data {
    let size = UInt64(RecordFormat.blockByteCount)
    return Data(try block(offset / size).dropFirst(Int(offset % size)))
  }

  /// Reads the entire body from the file.
  func contents() throws(DiskStoreError) -> Data {
    var data = Data()
    for number in 0..<blockCount { data.append(contentsOf: try block(number)) }
    return data
  }
}
