// RecordWriter: writes a record to a temporary file, block by block, and renames the file when it is complete.

package import LupineCache
internal import LupineReactor
internal import LupineWire

/// Writes one record to the disk store. Readers can't see the record until `commit` is called. If the record is never committed,
/// the writer removes its file.
///
/// If the process ends before that, the kernel releases the lock on the file, and the next scan of the folder removes the file.
package final class RecordWriter {
  private let store: DiskStore
  private let uri: String
  private let response: StoredResponse
  private let head: [UInt8]
  private let id: UInt64
  private let temporaryName: String
  /// The record's file, or nil after it has been closed.
  private var file: WritableFile?
  private var block: [UInt8] = []
  private var blockCount: UInt64 = 0
  private(set) var bodyByteCount: UInt64 = 0

  /// Creates the temporary file of a new record. `id` must be random, so that it is unique in the folder.
  init(_ store: DiskStore, uri: String, response: StoredResponse, id: UInt64) throws(DiskStoreError) {
    self.store = store
    self.uri = uri
    self.response = response
    self.id = id
    head = RecordHead(uri: uri, response: response).bytes
    guard head.count <= RecordFormat.headBytesMax else { throw .headTooLarge }
    let temporary = try DiskStoreError.wrapping { () throws(SystemError) in try TemporaryFile(in: store.folder, id) }
    temporaryName = temporary.name
    file = temporary.takeFile()
  }

  deinit {
    // If the file is still open, the record wasn't committed, so the temporary file is removed. The file of a committed record
    // has been renamed.
    if file != nil { try? store.folder.remove(temporaryName) }
  }

  /// Appends bytes to the record's body. Throws `.bodyTooLarge` as soon as the record exceeds the store's capacity.
  package func append(_ bytes: borrowing Span<UInt8>) throws(DiskStoreError) {
    bodyByteCount += UInt64(bytes.count)
    guard let size = fileByteCount, size <= UInt64(max(0, store.capacity)) else { throw .bodyTooLarge }
    var offset = 0
    while offset < bytes.count {
      let count = min(bytes.count - offset, RecordFormat.blockByteCount - block.count)
      block.append(copying: bytes, offset..<offset + count)
      offset += count
      if block.count == RecordFormat.blockByteCount { try writeBlock() }
    }
  }

  /// Appends a range of the body of a stored record. If that record is damaged, removes it and throws `.damaged`.
  package func append(_ range: Range<UInt64>, of record: RecordReader) throws(DiskStoreError) {
    do throws(DiskStoreError) {
      try record.read(range) { bytes throws(DiskStoreError) in try append(bytes) }
    } catch {
      if error == .damaged { store.remove(record.id) }
      throw error
    }
  }

  /// Completes the record and makes it visible to readers. Removes the stored responses of its URI for which `isSuperseded` returns
  /// true.
  package func commit(superseding isSuperseded: (StoredResponse) -> Bool) throws(DiskStoreError) {
    if !block.isEmpty { try writeBlock() }
    guard let size = fileByteCount, size <= UInt64(max(0, store.capacity)) else { throw .bodyTooLarge }
    let preamble = RecordPreamble(head: head, bodyByteCount: bodyByteCount, id: id)
    try write(preamble.bytes + head, at: 0)
    let name = RecordName(key: store.key(of: uri), id: id, byteCount: size)
    // The file is renamed before it is closed, because closing it would release the lock that protects it from scans.
    try DiskStoreError.wrapping { () throws(SystemError) in
      try store.folder.move(temporaryName, to: name.text, replaces: true)
    }
    do throws(SystemError) {
      // Closing the file reports write errors that the kernel has deferred.
      if let file = file.take() { try file.close() }
    } catch {
      try? store.folder.remove(name.text)
      throw .system(error)
    }
    store.add(name, uri: uri, superseding: isSuperseded)
  }

  private var fileByteCount: UInt64? {
    RecordFormat.fileByteCount(headByteCount: head.count, bodyByteCount: bodyByteCount)
  }

  private func writeBlock() throws(DiskStoreError) {
    let stride = UInt64(RecordFormat.blockByteCount + RecordFormat.checksumByteCount)
    let offset = UInt64(RecordFormat.preambleByteCount + head.count) + blockCount * stride
    let checksum = RecordFormat.checksum(block.span, number: blockCount, id: id)
    block += RecordBytes.bytes(of: checksum)
    try write(block, at: offset)
    block.removeAll(keepingCapacity: true)
    blockCount += 1
  }

  private func write(_ bytes: [UInt8], at offset: UInt64) throws(DiskStoreError) {
    try DiskStoreError.wrapping { () throws(SystemError) in try file?.write(bytes.span, at: offset) }
  }
}
