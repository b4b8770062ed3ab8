// TransferRecord: one task's record, and the files with its response.

internal import Glibc
internal import LupineReactor
internal import Synchronization

/// The record of one task. Methods may be called on any thread, and block the thread while the disk is busy.
package final class TransferRecord: Sendable {
  package let id: UInt64
  private let folder: String
  private let content: Mutex<TransferRecordContent>

  /// The maximum number of attempts to write a change: 3. If all fail, the disk has probably failed, or the process has no
  /// descriptors left.
  private static let attemptsMax = 3

  init(folder: String, id: UInt64, _ content: TransferRecordContent) {
    self.folder = folder
    self.id = id
    self.content = Mutex(content)
  }

  package var description: TransferDescription { content.withLock { $0.description } }
  package var progress: TransferProgress { content.withLock { $0.progress } }

  /// The path of the file for the response's body.
  package var bodyPath: String { path(.body(id)) }

  private func path(_ name: TransferFileName) -> String { "\(folder)/\(name.text)" }

  // MARK: Changes

  /// Records the progress. If the method throws an error, the record keeps the earlier progress.
  package func mark(_ change: (inout TransferProgress) -> Void) throws(TransferStoreError) {
    let failure = content.withLock { content -> SystemError? in
      var changed = content
      change(&changed.progress)
      guard changed.progress != content.progress else { return nil }
      changed.sequence += 1
      var failure: SystemError?
      for _ in 0..<Self.attemptsMax {
        failure = overwriteSlot(of: changed)
        if failure == nil { break }
      }
      if failure == nil { content = changed }
      return failure
    }
    if let failure { throw .system(failure) }
  }

  /// Changes the recorded description, for example after the caller has set the task's description.
  package func describe(_ change: (inout TransferDescription) -> Void) throws(TransferStoreError) {
    let result = content.withLock { content -> Result<Void, TransferStoreError> in
      var changed = content
      change(&changed.description)
      guard changed != content else { return .success(()) }
      return Result { () throws(TransferStoreError) in
        try write(changed)
        content = changed
      }
    }
    try result.get()
  }

  /// Removes the task's files, starting with the record. If the record is gone, a later process removes the other files.
  ///
  /// If the record can't be removed, it is emptied instead, so that the task doesn't run again.
  package func remove() {
    for attempt in 1...Self.attemptsMax {
      do throws(SystemError) {
        try File.remove(path(.record(id)))
        break
      } catch {
        if error.code == ENOENT { break }
        if attempt == Self.attemptsMax, let file = try? WritableFile(reopening: path(.record(id))) {
          try? file.truncate(to: 0)
        }
      }
    }
    try? File.remove(path(.answer(id)))
    try? File.remove(bodyPath)
  }

  private func overwriteSlot(of content: TransferRecordContent) -> SystemError? {
    do throws(SystemError) {
      let file = try WritableFile(reopening: path(.record(id)))
      // The slots are at the end.
      let end = try file.byteCount()
      let slots = UInt64(TransferFormat.slotCount * TransferFormat.slotByteCount)
      guard end >= slots else { throw SystemError(call: "read \(path(.record(id)))", code: ENODATA) }
      let offset = end - slots + UInt64(content.slotIndex * TransferFormat.slotByteCount)
      let slot = content.slot(id: id)
      try file.write(slot.span, at: offset)
      try file.synchronize()
      try file.close()
      return nil
    } catch {
      return error
    }
  }

  func write(_ content: TransferRecordContent) throws(TransferStoreError) {
    guard content.description.isRecordable else { throw .tooLarge }
    try replace(.record(id), with: content.bytes(id: id))
  }

  /// Writes a file under a temporary name, and renames the file when it is complete and on the disk.
  private func replace(_ name: TransferFileName, with bytes: [UInt8]) throws(TransferStoreError) {
    let temporary = path(.temporary(name.text))
    // Removes the temporary file that a failed attempt may have left.
    try? File.remove(temporary)
    do throws(SystemError) {
      let file = try WritableFile(creating: temporary)
      try file.write(bytes.span, at: 0)
      try file.synchronize()
      try file.close()
      try File.move(temporary, to: path(name), replaces: true)
    } catch {
      try? File.remove(temporary)
      throw .system(error)
    }
  }

  // MARK: The response

  /// Records the head of the response whose body will be written. The body's file must be empty or absent.
  package func setAnswer(_ answer: TransferAnswer) throws(TransferStoreError) {
    guard let bytes = answer.bytes(id: id) else { throw .tooLarge }
    try replace(.answer(id), with: bytes)
  }

  /// Removes the recorded head of the response. Called before the body's file is emptied.
  package func removeAnswer() throws(TransferStoreError) {
    do throws(SystemError) {
      try File.remove(path(.answer(id)))
    } catch  where error.code == ENOENT {
    } catch {
      throw .system(error)
    }
  }

  /// The recorded head of the response, or nil if there is none or it is damaged.
  package var answer: TransferAnswer? {
    let limit = TransferFormat.preambleByteCount + TransferFormat.headBytesMax
    return (try? File.content(of: path(.answer(id)), byteCountMax: limit)).flatMap { TransferAnswer($0, id: id) }
  }

  /// Returns the size of the body's file, or nil if the file doesn't exist.
  package func bodyByteCount() throws(TransferStoreError) -> UInt64? {
    do throws(SystemError) {
      return try File(reading: bodyPath).byteCount()
    } catch  where error.code == ENOENT {
      return nil
    } catch {
      throw .system(error)
    }
  }

  /// Decides what to do with a task that an earlier process has left unfinished.
  ///
  /// If the size of the body's file can't be read, for example for lack of descriptors, the file is treated as changed: a
  /// download starts over, and the response to an answered upload is lost.
  package func recovery() -> TransferRecovery {
    let (kind, progress) = content.withLock { ($0.description.kind, $0.progress) }
    do throws(TransferStoreError) {
      return .decide(kind, progress, hasAnswer: answer != nil, bodyByteCount: try bodyByteCount())
    } catch {
      return .decide(kind, progress, hasAnswer: false, bodyByteCount: .max)
    }
  }
}
