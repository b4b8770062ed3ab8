// TransferFormatTests: records read back as written, and damaged ones are refused.

import LupineTestSupport
import Testing

@testable import LupineTransferStore

@Suite struct TransferFormatTests {
  static let contents = [
    TransferRecordContent(description: .sample, progress: TransferProgress(), sequence: 0),
    TransferRecordContent(
      description: .upload, progress: TransferProgress(stage: .answered, status: 200, byteCount: 7, startedAt: -1),
      sequence: TransferFormat.sequenceMax - 1),
  ]

  @Test("a background transfer's record decodes to the description and progress that were encoded", arguments: contents)
  func roundTrip(_ content: TransferRecordContent) {
    #expect(TransferRecordContent(content.bytes(id: 7), id: 7) == content)
    #expect(TransferRecordContent(content.bytes(id: 7), id: 8) == nil)
  }

  @Test("the transfer store reads a record of version 1, which has no options, and refuses one of a later version")
  func versions() {
    var content = Self.contents[0]
    content.description.options = TransferOptions()
    let head = content.description.bytes
    let old = Array(head.dropLast(TransferOptions().bytes.count))
    func read(_ head: [UInt8], _ version: UInt32) -> TransferRecordContent? {
      let preamble = TransferFormat.preamble(TransferFormat.recordMagic, head: head, id: 7, version: version)
      let slots = content.bytes(id: 7).suffix(TransferFormat.slotCount * TransferFormat.slotByteCount)
      return TransferRecordContent(preamble + head + slots, id: 7)
    }
    #expect(read(old, 1) == content && read(head, 2) == content)
    #expect(read(head, 1) == nil && read(old, 2) == nil && read(old, 0) == nil && read(head, 3) == nil)
  }

  @Test(
    "a background transfer's recorded response head decodes to the head that was encoded, and is refused for another task"
  )
  func answers() throws {
    let bytes = try #require(TransferAnswer.sample.bytes(id: 3))
    #expect(TransferAnswer(bytes, id: 3) == .sample)
    #expect(TransferAnswer(bytes, id: 4) == nil)
    for count in bytes.indices { #expect(TransferAnswer(Array(bytes.prefix(count)), id: 3) == nil) }
    #expect(TransferAnswer(bytes + [0], id: 3) == nil)
  }

  @Test("the transfer store refuses a record that is truncated, extended or altered at any byte", arguments: contents)
  func damage(_ content: TransferRecordContent) {
    let bytes = content.bytes(id: 7)
    let slots = bytes.count - TransferFormat.slotCount * TransferFormat.slotByteCount
    let unused = slots + (content.slotIndex == 0 ? TransferFormat.slotByteCount : 0)
    for index in bytes.indices {
      #expect(TransferRecordContent(Array(bytes.prefix(index)), id: 7) == nil)
      var changed = bytes
      changed[index] ^= 0x10
      // The unused slot is invalid whether it is changed or not.
      let isUnused = (unused..<unused + TransferFormat.slotByteCount).contains(index)
      #expect(TransferRecordContent(changed, id: 7) == (isUnused ? content : nil))
    }
    #expect(TransferRecordContent(bytes + [0], id: 7) == nil)
  }

  @Test("after a progress update that was written only partially, the transfer store reads the previous progress")
  func cutChange() {
    let before = TransferRecordContent(
      description: .upload, progress: TransferProgress(stage: .running, startedAt: 5), sequence: 3)
    var after = before
    after.progress.stage = .answered
    after.sequence += 1
    let old = before.bytes(id: 7)
    let slots = old.count - TransferFormat.slotCount * TransferFormat.slotByteCount
    let start = slots + after.slotIndex * TransferFormat.slotByteCount
    for count in 0...TransferFormat.slotByteCount {
      var bytes = old
      bytes.replaceSubrange(start..<start + count, with: after.slot(id: 7).prefix(count))
      let expected = count == TransferFormat.slotByteCount ? after : before
      #expect(TransferRecordContent(bytes, id: 7) == expected)
    }
  }

  @Test("the transfer store refuses a record whose number of changes could overflow")
  func changeCount() throws {
    func content(_ sequence: UInt64) -> TransferRecordContent {
      TransferRecordContent(description: .sample, progress: TransferProgress(), sequence: sequence)
    }
    let greatest = content(TransferFormat.sequenceMax)
    #expect(TransferRecordContent(greatest.bytes(id: 7), id: 7) == greatest)
    for sequence in [TransferFormat.sequenceMax + 1, .max - 1, .max] {
      #expect(TransferRecordContent(content(sequence).bytes(id: 7), id: 7) == nil)
      // The other slot is valid, but it isn't the latest one.
      var bytes = content(sequence).bytes(id: 7)
      let earlier = content(sequence % 2 == 0 ? 1 : 2)
      let start =
        bytes.count - (TransferFormat.slotCount - earlier.slotIndex) * TransferFormat.slotByteCount
      bytes.replaceSubrange(start..<start + TransferFormat.slotByteCount, with: earlier.slot(id: 7))
      #expect(TransferRecordContent(bytes, id: 7) == nil)
    }
  }

  @Test("no sequence of bytes crashes the readers of transfer records", arguments: 0..<repetitions(of: 100))
  func mutations(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    for _ in 0..<50 {
      let head = random.mutation(of: random.pick(Self.contents).description.bytes, inserting: [0, 1, 0x7F, 0xFF])
      // The checksums of the record are valid, so that its head is parsed.
      let record =
        TransferFormat.preamble(TransferFormat.recordMagic, head: head, id: 1) + head
        + Self.contents[0].slot(id: 1) + [UInt8](repeating: 0, count: TransferFormat.slotByteCount)
      if let content = TransferRecordContent(record, id: 1) {
        #expect(TransferRecordContent(content.bytes(id: 1), id: 1)?.description.bytes == content.description.bytes)
      }
      _ = TransferAnswer(TransferFormat.preamble(TransferFormat.answerMagic, head: head, id: 1) + head, id: 1)
    }
  }

  @Test("the transfer store parses each file name that it generates correctly, and refuses any other name")
  func names() {
    let valid: [TransferFileName] = [
      .record(1), .answer(0xABC), .body(0), .temporary("0000000000000001.task"), .record(TransferFileName.idMax),
    ]
    for name in valid { #expect(TransferFileName(name.text) == name) }
    #expect(TransferFileName(TransferFileName.record(TransferFileName.idMax + 1).text) == nil)
    for text in [
      "lock", "1.task", "000000000000000A.task", "+00000000000001.task", "ffffffffffffffff.task", ".task", "new-lock",
      "lupine-download-1.tmp", "lupine-download-0123456789abcdef0123456789abcdef.tmp", "new-new-0000000000000001.task",
    ] {
      #expect(TransferFileName(text) == nil, "\(text)")
    }
  }
}
