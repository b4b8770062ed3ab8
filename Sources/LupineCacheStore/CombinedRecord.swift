// CombinedRecord: a record that consists of a received part and of the stored parts next to it (RFC 9111 §3.4).

package import LupineCache

/// A record to be written: a part of a representation that the origin has sent, together with the bytes before and after it that
/// stored records of the same version contain.
///
/// Writing it copies these bytes block by block, so that it takes little memory. The stored records remain until the new one is
/// complete.
package struct CombinedRecord: Sendable {
  /// The number of stored bytes that may be copied for each received byte: 16. A server that sends a long representation in many
  /// small parts would otherwise make the store write most of it again with each part.
  static let copiesPerByteMax: UInt64 = 16
  /// The number of stored bytes that may be copied however short the received part is: 1 MiB.
  static let copiedBytesMax: UInt64 = 1 << 20

  /// A range of the body of a stored record.
  private struct Piece {
    let record: RecordReader
    let range: Range<UInt64>
  }

  /// The metadata of the record to be written.
  package private(set) var response: StoredResponse
  private let receivedByteCount: UInt64
  private var copiedByteCount: UInt64 = 0
  private var beginning: [Piece] = []
  private var end: [Piece] = []

  /// Creates the record of a response as it was received.
  package init(_ response: StoredResponse) {
    self.response = response
    receivedByteCount = response.bodyByteCount
  }

  /// Creates the record of a representation that consists of the beginning in a stored record and of the rest.
  package init(_ completion: StoredResponse.Combination, of record: RecordReader) {
    self.init(completion.part)
    add(completion, of: record)
  }

  /// Whether the record contains bytes of stored records.
  package var isCombined: Bool { !beginning.isEmpty || !end.isEmpty }

  /// Adds the bytes of a stored record and returns true, unless they can't be combined, nothing would be added, or too many bytes
  /// would be copied.
  mutating func add(_ record: RecordReader, bodyBytesMax: UInt64) -> Bool {
    guard let combination = response.combined(with: record.response) else { return false }
    let added = UInt64(combination.prefix.count + combination.suffix.count)
    let copied = copiedByteCount + added
    guard added > 0, combination.response.bodyByteCount <= bodyBytesMax,
      // The whole is written once for each version.
      !combination.response.isPartial || copied <= Self.copiedBytesMax
        || copied / Self.copiesPerByteMax <= receivedByteCount
    else { return false }
    add(combination, of: record)
    return true
  }

  private mutating func add(_ combination: StoredResponse.Combination, of record: RecordReader) {
    response = combination.response
    copiedByteCount += UInt64(combination.prefix.count + combination.suffix.count)
    if !combination.prefix.isEmpty { beginning.insert(Piece(record: record, range: combination.prefix), at: 0) }
    if !combination.suffix.isEmpty { end.append(Piece(record: record, range: combination.suffix)) }
  }

  /// Creates the record's writer, and writes the bytes before the received ones. The caller then appends the received bytes, and
  /// calls `finish`. `id` must be random, so that it is unique in the folder.
  package func begin(in store: DiskStore, uri: String, id: UInt64) throws(DiskStoreError) -> RecordWriter {
    let writer = try store.writer(uri: uri, response: response, id: id)
    for piece in beginning { try writer.append(piece.range, of: piece.record) }
    return writer
  }

  /// Writes the bytes after the received ones, and makes the record visible to readers. Removes the stored responses of its URI for
  /// which `isSuperseded` returns true. Throws `.wrongLength` if other than the announced number of bytes was received.
  package func finish(
    _ writer: RecordWriter, superseding isSuperseded: (StoredResponse) -> Bool
  ) throws(DiskStoreError) {
    for piece in end { try writer.append(piece.range, of: piece.record) }
    guard !response.isPartial && !isCombined || writer.bodyByteCount == response.bodyByteCount else {
      throw .wrongLength
    }
    try writer.commit(superseding: isSuperseded)
  }
}

extension DiskStore {
  /// Returns the record with which a response is stored: a 206 together with the bytes of the URI's stored records of the same
  /// version that adjoin or overlap it, any other response as it is. `response` has the size of its body.
  ///
  /// - Parameter bodyBytesMax: The maximum size of a combined body in bytes.
  package func record(
    of response: StoredResponse, uri: String, bodyBytesMax: UInt64 = .max
  ) -> CombinedRecord {
    var combined = CombinedRecord(response)
    guard response.isPartial else { return combined }
    var records: [RecordReader] = []
    forEachRecord(of: uri) { records.append($0) }
    // A stored part may adjoin the received one only by way of another stored part.
    while records.contains(where: { combined.add($0, bodyBytesMax: bodyBytesMax) }) {}
    return combined
  }
}
