// TransferFormat: the bytes of records of background tasks. It performs no I/O: it reads and writes byte arrays.
//
//   record   = preamble head slot slot
//   preamble = "LUPTRANS" version(4) head-size(4) id(8) checksum(8)
//   slot     = sequence(8) stage(1) status(4) byte-count(8) started(8) checksum(8), or zeros
//   answer   = "LUPANSWR" version(4) head-size(4) id(8) checksum(8) head
//
// Numbers are little-endian. A text consists of its size (4) and its bytes. A preamble's checksum covers the bytes before it
// and the head. The two slots contain the task's progress. Each change overwrites the older slot, so that an interrupted write
// leaves the newer slot intact. Both slots exist from the start, so a change needs no further space on the disk. A slot's
// checksum has the record's id as its seed, so that no slot of another record is valid.

internal import LupineReactor

/// The sizes and limits of the format in which background tasks are stored.
package enum TransferFormat {
  /// The version of the format in which background tasks are stored: 2, which added the options of requests. Version 1 can still be
  /// read. Records of other versions are treated as damaged.
  package static let version: UInt32 = 2
  private static let versionMin: UInt32 = 1
  static let preambleByteCount = 32
  static let slotByteCount = 37
  static let slotCount = 2
  static let recordMagic = Array("LUPTRANS".utf8)
  static let answerMagic = Array("LUPANSWR".utf8)

  /// The maximum size in bytes of the head of a stored task: 1 MiB, which includes the body of a download's request. For
  /// comparison, a response's head has at most 64 KiB by default.
  package static let headBytesMax = 1 << 20
  /// The maximum number of changes of a stored task: 2^63, so that counting further changes can't overflow. No task is changed that
  /// often.
  static let sequenceMax: UInt64 = 1 << 63
  /// The maximum size in bytes of the file that stores a background task.
  static let recordBytesMax = preambleByteCount + headBytesMax + slotCount * slotByteCount

  static func preamble(
    _ magic: [UInt8], head: [UInt8], id: UInt64, version: UInt32 = TransferFormat.version
  ) -> [UInt8] {
    let start =
      magic + RecordBytes.bytes(of: version) + RecordBytes.bytes(of: UInt32(head.count)) + RecordBytes.bytes(of: id)
    return start + RecordBytes.bytes(of: Checksum.of((start + head).span))
  }

  /// Splits the bytes of a record file into the format version, the head and the bytes after the head. Returns nil if the
  /// magic number, version, task number, head length or checksum is wrong.
  static func head(
    of bytes: [UInt8], magic: [UInt8], id: UInt64
  ) -> (version: UInt32, head: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    var reader = RecordBytes(bytes[...])
    guard reader.take(8).map(Array.init) == magic, let read = reader.number32(), (versionMin...version).contains(read),
      let count = reader.number32(), count <= headBytesMax, reader.number64() == id, let checksum = reader.number64(),
      let head = reader.take(Int(count)),
      checksum == Checksum.of(Array(bytes[..<(preambleByteCount - 8)] + head).span)
    else { return nil }
    return (read, head, bytes[head.endIndex...])
  }
}

/// The content of the file that stores a background task.
package struct TransferRecordContent: Sendable, Equatable {
  package var description: TransferDescription
  package var progress: TransferProgress
  /// The number of times that the progress has changed. It determines which of the two slots the next change overwrites.
  package var sequence: UInt64

  package init(description: TransferDescription, progress: TransferProgress, sequence: UInt64) {
    self.description = description
    self.progress = progress
    self.sequence = sequence
  }

  package func bytes(id: UInt64) -> [UInt8] {
    let head = description.bytes
    var slots = [UInt8](repeating: 0, count: TransferFormat.slotCount * TransferFormat.slotByteCount)
    let start = slotIndex * TransferFormat.slotByteCount
    slots.replaceSubrange(start..<start + TransferFormat.slotByteCount, with: slot(id: id))
    return TransferFormat.preamble(TransferFormat.recordMagic, head: head, id: id) + head + slots
  }

  /// Parses the record of a background task. Returns nil if the bytes aren't a record with this id, if neither of its two slots is
  /// valid, or if the newer one exceeds `TransferFormat.sequenceMax`.
  package init?(_ bytes: [UInt8], id: UInt64) {
    guard let (version, head, rest) = TransferFormat.head(of: bytes, magic: TransferFormat.recordMagic, id: id),
      let description = TransferDescription(head, version: version),
      rest.count == TransferFormat.slotCount * TransferFormat.slotByteCount
    else { return nil }
    var newest: (sequence: UInt64, progress: TransferProgress)?
    for index in 0..<TransferFormat.slotCount {
      let slot = rest.dropFirst(index * TransferFormat.slotByteCount).prefix(TransferFormat.slotByteCount)
      guard let (sequence, progress) = Self.parse(slot: slot, id: id),
        sequence % UInt64(TransferFormat.slotCount) == UInt64(index)
      else { continue }
      if newest.map({ $0.sequence < sequence }) ?? true { newest = (sequence, progress) }
    }
    guard let newest, newest.sequence <= TransferFormat.sequenceMax else { return nil }
    self.init(description: description, progress: newest.progress, sequence: newest.sequence)
  }

  var slotIndex: Int { Int(sequence % UInt64(TransferFormat.slotCount)) }

  func slot(id: UInt64) -> [UInt8] {
    let start =
      RecordBytes.bytes(of: sequence) + [progress.stage.rawValue] + RecordBytes.bytes(of: progress.status)
      + RecordBytes.bytes(of: progress.byteCount) + RecordBytes.bytes(of: progress.startedAt)
    return start + RecordBytes.bytes(of: Checksum.of(start.span, seed: id))
  }

  private static func parse(slot: ArraySlice<UInt8>, id: UInt64) -> (UInt64, TransferProgress)? {
    var reader = RecordBytes(slot)
    guard let sequence = reader.number64(), let stage = reader.byte().flatMap(TransferProgress.Stage.init(rawValue:)),
      let status = reader.number32(), let byteCount = reader.number64(), let started = reader.number64(),
      let checksum = reader.number64(), checksum == Checksum.of(Array(slot.dropLast(8)).span, seed: id)
    else { return nil }
    let startedAt = Int64(bitPattern: started)
    return (sequence, TransferProgress(stage: stage, status: status, byteCount: byteCount, startedAt: startedAt))
  }
}

extension TransferDescription {
  /// Whether the description is small enough for a record.
  package var isRecordable: Bool { bytes.count <= TransferFormat.headBytesMax }

  var bytes: [UInt8] {
    var bytes: [UInt8]
    switch kind {
    case .download: bytes = [0]
    case .upload(let path): bytes = [1] + RecordBytes.bytes(of: path.utf8)
    }
    bytes += RecordBytes.bytes(of: url.utf8) + RecordBytes.bytes(of: method.utf8) + fields.recordBytes
    bytes += RecordBytes.bytes(of: UInt32(omittedNames.count))
    for name in omittedNames { bytes += RecordBytes.bytes(of: name.utf8) }
    bytes += RecordBytes.bytes(of: body)
    bytes += RecordBytes.bytes(ofOptional: timeout?.bitPattern) + RecordBytes.bytes(ofOptional: cachePolicy)
    bytes.append(handlesCookies ? 1 : 0)
    bytes += RecordBytes.bytes(ofOptional: mainDocument?.utf8)
    bytes += RecordBytes.bytes(ofOptional: taskDescription?.utf8)
    return bytes + RecordBytes.bytes(ofOptional: earliestStart?.bitPattern) + options.bytes
  }

  /// Parses the head of a record with the format version `version`. Returns nil if the bytes aren't a head, or if bytes remain
  /// after it.
  init?(_ bytes: ArraySlice<UInt8>, version: UInt32) {
    var reader = RecordBytes(bytes)
    let kind: Kind
    switch reader.byte() {
    case 0: kind = .download
    case 1:
      guard let path = reader.string() else { return nil }
      kind = .upload(path: path)
    default: return nil
    }
    guard let url = reader.string(), let method = reader.string(), let fields = reader.recordedFields(),
      let omittedNames = reader.list({ $0.string() }), let body = reader.text(),
      let timeout = reader.optional({ $0.number64() }), let policy = reader.optional({ $0.number32() }),
      let cookies = reader.byte(), cookies <= 1, let mainDocument = reader.optional({ $0.string() }),
      let taskDescription = reader.optional({ $0.string() }), let earliestStart = reader.optional({ $0.number64() }),
      // Version 1 has no options.
      let options = version == 1 ? TransferOptions() : TransferOptions(&reader), reader.isAtEnd
    else { return nil }
    self.init(kind: kind, url: url, method: method, fields: fields)
    self.omittedNames = omittedNames
    self.body = body
    self.timeout = timeout.map(Double.init(bitPattern:))
    cachePolicy = policy
    handlesCookies = cookies == 1
    self.mainDocument = mainDocument
    self.taskDescription = taskDescription
    self.earliestStart = earliestStart.map(Double.init(bitPattern:))
    self.options = options
  }
}

extension TransferAnswer {
  /// Returns the content of the file that stores this response head. Returns nil if it would be longer than the format allows.
  package func bytes(id: UInt64) -> [UInt8]? {
    let head =
      RecordBytes.bytes(of: url.utf8) + RecordBytes.bytes(of: status) + [isDecoded ? 1 : 0] + fields.recordBytes
    guard head.count <= TransferFormat.headBytesMax else { return nil }
    return TransferFormat.preamble(TransferFormat.answerMagic, head: head, id: id) + head
  }

  /// Parses the file that stores the head of a response. Returns nil if the bytes aren't such a file with this id.
  package init?(_ bytes: [UInt8], id: UInt64) {
    guard let (_, head, rest) = TransferFormat.head(of: bytes, magic: TransferFormat.answerMagic, id: id), rest.isEmpty
    else { return nil }
    var reader = RecordBytes(head)
    guard let url = reader.string(), let status = reader.number32(), (100...999).contains(status),
      let form = reader.byte(), form <= 1, let fields = reader.recordedFields(), reader.isAtEnd
    else { return nil }
    self.init(url: url, status: status, fields: fields, isDecoded: form == 1)
  }
}

extension [RecordedField] {
  fileprivate var recordBytes: [UInt8] {
    reduce(into: RecordBytes.bytes(of: UInt32(count))) { bytes, field in
      bytes += RecordBytes.bytes(of: field.name.utf8) + RecordBytes.bytes(of: field.value)
    }
  }
}

extension RecordBytes {
  fileprivate mutating func recordedFields() -> [RecordedField]? {
    list { reader in
      guard let name = reader.string(), let value = reader.text() else { return nil }
      return RecordedField(name: name, value: value)
    }
  }
}
