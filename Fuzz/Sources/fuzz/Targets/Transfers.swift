// The parser of the records of background sessions, with arbitrary bytes.

@testable import LupineTransferStore

extension FuzzTarget {
  /// Fuzzes the parser of background transfer records. The input is a record. It is also parsed as the head of a record of each
  /// version, and as the recorded head of a response, with valid checksums.
  static let transferRecord = FuzzTarget(
    name: "transfer-record",
    summary: "any bytes are refused as a background task's record, or read as one that is written the same way"
  ) { bytes in
    _ = TransferRecordContent(bytes, id: 1)
    _ = TransferAnswer(bytes, id: 1)
    let slots = TransferRecordContent(
      description: TransferDescription(kind: .download, url: "", method: "", fields: []),
      progress: TransferProgress(stage: .finished, status: 200, byteCount: 7, startedAt: 7), sequence: 7
    ).bytes(id: 1).suffix(TransferFormat.slotCount * TransferFormat.slotByteCount)
    let record = TransferFormat.preamble(TransferFormat.recordMagic, head: bytes, id: 1) + bytes + slots
    if let content = TransferRecordContent(record, id: 1) {
      // The records are compared as bytes, because NaN doesn't equal itself.
      hold(content.bytes(id: 1) == record, "\(content)")
      for bodyByteCount in [nil, 0, 7] as [UInt64?] {
        _ = TransferRecovery.decide(
          content.description.kind, content.progress, hasAnswer: true, bodyByteCount: bodyByteCount)
      }
    }
    let old = TransferFormat.preamble(TransferFormat.recordMagic, head: bytes, id: 1, version: 1) + bytes + slots
    if let read = TransferRecordContent(old, id: 1) {
      let new = read.bytes(id: 1)
      hold(TransferRecordContent(new, id: 1)?.bytes(id: 1) == new, "\(read)")
    }
    let answer = TransferFormat.preamble(TransferFormat.answerMagic, head: bytes, id: 1) + bytes
    if let read = TransferAnswer(answer, id: 1) { hold(read.bytes(id: 1) == answer, "\(read)") }
    let name = String(decoding: bytes, as: UTF8.self)
    hold(TransferFileName(name).map { $0.text == name } ?? true, name)
  }
}
