// RecordFormat: the bytes of a record on disk. It performs no I/O: it reads and writes byte arrays.
//
//   record   = preamble head body
//   preamble = "LUPCACHE" version(4) head-size(4) body-size(8) id(8) checksum(8)
//   head     = uri partition status(4) times(8 8) body-form(1) state(1) selectors fields
//   body     = *( block checksum(8) ); each block has 65,536 bytes, except for the last one
//
// Numbers are little-endian. A text consists of its size (4) and its bytes. The preamble's checksum covers the head and the bytes
// before the checksum. The seed of a block's checksum is derived from the record's id and the block's number, so a block from
// another record or position is invalid.

package import LupineCache
internal import LupineReactor
internal import LupineWire

/// The sizes and limits of the format in which the cache stores a response on disk.
package enum RecordFormat {
  /// The version of the record format. Records with other versions are treated as damaged.
  package static let version: UInt32 = 1
  package static let preambleByteCount = 40
  static let magic = Array("LUPCACHE".utf8)

  /// The size in bytes of the blocks into which a record's body is divided: 65,536. Reading or writing a body takes about this much
  /// memory.
  package static let blockByteCount = 65_536
  static let checksumByteCount = 8

  /// The maximum size of a record's head in bytes: 1 MiB.
  ///
  /// A response's head has at most 64 KiB by default, and the request's fields that Vary names have at most 16 KiB.
  package static let headBytesMax = 1 << 20

  /// Returns the size of a record's file in bytes, or nil if the size doesn't fit in 63 bits.
  package static func fileByteCount(headByteCount: Int, bodyByteCount: UInt64) -> UInt64? {
    let blocks = bodyByteCount / UInt64(blockByteCount) + (bodyByteCount % UInt64(blockByteCount) == 0 ? 0 : 1)
    let (sum, overflow) = bodyByteCount.addingReportingOverflow(
      blocks * UInt64(checksumByteCount) + UInt64(preambleByteCount + headByteCount))
    return overflow || sum > UInt64(Int64.max) ? nil : sum
  }

  /// Returns the checksum of block `number` in the body of the record `id`.
  package static func checksum(_ block: borrowing Span<UInt8>, number: UInt64, id: UInt64) -> UInt64 {
    Checksum.of(block, seed: id &+ number)
  }
}

/// The first part of a record's file, which has a fixed size. It contains the sizes of the other parts and a checksum.
package struct RecordPreamble: Sendable, Equatable {
  package let headByteCount: Int
  package let bodyByteCount: UInt64
  package let id: UInt64
  let checksum: UInt64

  init(head: [UInt8], bodyByteCount: UInt64, id: UInt64) {
    headByteCount = head.count
    self.bodyByteCount = bodyByteCount
    self.id = id
    let covered = Self.covered(head.count, bodyByteCount, id)
    checksum = Checksum.of((covered + head).span)
  }

  /// Parses the preamble from the first bytes of a file. Returns nil if they aren't the preamble of a record of this version.
  package init?(_ bytes: [UInt8]) {
    var reader = RecordBytes(bytes[...])
    guard reader.take(8).map(Array.init) == RecordFormat.magic, reader.number32() == RecordFormat.version,
      let headByteCount = reader.number32(), headByteCount <= RecordFormat.headBytesMax,
      let bodyByteCount = reader.number64(), let id = reader.number64(), let checksum = reader.number64()
    else { return nil }
    self.headByteCount = Int(headByteCount)
    self.bodyByteCount = bodyByteCount
    self.id = id
    self.checksum = checksum
  }

  /// The size of the record's file in bytes, or nil if the size doesn't fit in 63 bits.
  package var fileByteCount: UInt64? {
    RecordFormat.fileByteCount(headByteCount: headByteCount, bodyByteCount: bodyByteCount)
  }

  package var bytes: [UInt8] {
    Self.covered(headByteCount, bodyByteCount, id) + RecordBytes.bytes(of: checksum)
  }

  /// Returns whether `head` has the checksum in this preamble, and thus is the head that was written with it.
  package func matches(_ head: [UInt8]) -> Bool {
    checksum == Checksum.of((Self.covered(headByteCount, bodyByteCount, id) + head).span)
  }

  private static func covered(_ headByteCount: Int, _ bodyByteCount: UInt64, _ id: UInt64) -> [UInt8] {
    RecordFormat.magic + RecordBytes.bytes(of: RecordFormat.version) + RecordBytes.bytes(of: UInt32(headByteCount))
      + RecordBytes.bytes(of: bodyByteCount) + RecordBytes.bytes(of: id)
  }
}

/// The second part of a record's file: the URI and the response's metadata.
package struct RecordHead: Sendable, Equatable {
  package let uri: String
  package let response: StoredResponse

  package init(uri: String, response: StoredResponse) {
    self.uri = uri
    self.response = response
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func text(_ content: some Collection<UInt8>) { bytes += RecordBytes.bytes(of: content) }
    text(uri.utf8)
    switch response.partition {
    case .anonymous: bytes.append(0)
    case .session(let name):
      bytes.append(1)
      text(name.utf8)
    }
    bytes += RecordBytes.bytes(of: UInt32(response.status))
    bytes += RecordBytes.bytes(of: UInt64(bitPattern: response.times.request))
    bytes += RecordBytes.bytes(of: UInt64(bitPattern: response.times.response))
    bytes += [response.bodyForm.rawValue, response.state.rawValue]
    bytes += RecordBytes.bytes(of: UInt32(response.selectingFields.selectors.count))
    for selector in response.selectingFields.selectors {
      text(selector.name.utf8)
      bytes += RecordBytes.bytes(ofOptional: selector.value)
    }
    bytes += RecordBytes.bytes(of: UInt32(response.fields.count))
    for position in response.fields.indices {
      text(response.fields[position].name.utf8)
      text(response.fields.valueBytes(at: position))
    }
    return bytes
  }

  /// Parses the head of a record. Returns nil if the bytes aren't a head, or if bytes remain after it.
  package init?(_ bytes: [UInt8], bodyByteCount: UInt64) {
    var reader = RecordBytes(bytes[...])
    guard let uri = reader.string(), let partition = reader.partition(), let status = reader.number32(),
      (100...999).contains(status), let requested = reader.number64(), let received = reader.number64(),
      let form = reader.byte().flatMap(StoredResponse.BodyForm.init(rawValue:)),
      let state = reader.byte().flatMap(StoredResponse.State.init(rawValue:)), let selectors = reader.selectors(),
      let fields = reader.fields(), reader.isAtEnd
    else { return nil }
    self.uri = uri
    let times = ExchangeTimes(request: Int64(bitPattern: requested), response: Int64(bitPattern: received))
    response = StoredResponse(
      status: Int(status), fields: fields, times: times, partition: partition,
      selectingFields: SelectingFields(selectors), bodyForm: form, bodyByteCount: bodyByteCount, state: state)
  }
}

extension RecordBytes {
  fileprivate mutating func partition() -> CachePartition? {
    switch byte() {
    case 0: .anonymous
    case 1: string().map(CachePartition.session)
    default: nil
    }
  }

  fileprivate mutating func selectors() -> [SelectingFields.Selector]? {
    list(countMax: CacheLimits.varyNamesMax) { reader in
      guard let name = reader.string(), let value = reader.optional({ $0.text() }) else { return nil }
      return SelectingFields.Selector(name: name, value: value)
    }
  }

  fileprivate mutating func fields() -> Fields? {
    guard let count = number32() else { return nil }
    var fields = Fields()
    for _ in 0..<count {
      guard let name = string(), let value = text() else { return nil }
      fields.append(name: name, valueBytes: value)
    }
    return fields
  }
}
