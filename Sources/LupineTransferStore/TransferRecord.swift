// TransferRecord: one task's record, and the files with its response.

internal import LupineLibc
internal import LupineReactor
internal import Synchronization

/// The stored record of one background task. Methods may be called on any thread, and block the thread while the disk is busy.
package final class TransferRecord: Sendable {
  package let id: UInt64
  private let folder: String
  private let ownership: TransferOwnership
  private let state: Mutex<State>

  private struct State {
    var content: TransferRecordContent
    /// Whether `remove` was called. Later changes then have no effect, because a change that writes a new file would create the
    /// record again.
    var isRemoved = false
  }

  /// The maximum number of attempts to write a change to the disk: 3. If all fail, the disk has probably failed, or the process has
  /// no descriptors left.
  private static let attemptsMax = 3

  init(folder: String, id: UInt64, _ content: TransferRecordContent, _ ownership: TransferOwnership) {
    self.folder = folder
    self.id = id
    self.ownership = ownership
    state = Mutex(State(content: content))
  }

  package var description: TransferDescription { state.withLock { $0.content.description } }
  package var progress: TransferProgress { state.withLock { $0.content.progress } }

  /// The path of the file in which the response's body is stored.
  package var bodyPath: String { path(.body(id)) }

  private func path(_ name: TransferFileName) -> String { "\(folder)/\(name.text)" }

  // MARK: Changes

  /// Applies `change` to the record's content. If the content then differs, stores it with `write`.
  private func change(
    _ change: (inout TransferRecordContent) -> Void,
    _ write: (TransferRecordContent) throws(TransferStoreError) -> Void
  ) throws(TransferStoreError) {
    try whileRecorded { content throws(TransferStoreError) in
      var changed = content
      change(&changed)
      guard changed != content else { return }
      try write(changed)
      content = changed
    }
  }

  /// Changes the stored progress of the task. If the method throws an error, the record keeps the earlier progress.
  package func mark(_ change: (inout TransferProgress) -> Void) throws(TransferStoreError) {
    try self.change { content in
      let earlier = content.progress
      change(&content.progress)
      if content.progress != earlier { content.sequence += 1 }
    } _: { changed throws(TransferStoreError) in
      for attempt in 1...Self.attemptsMax {
        do throws(SystemError) {
          return try overwriteSlot(of: changed)
        } catch {
          if attempt == Self.attemptsMax { throw .system(error) }
        }
      }
    }
  }

  /// Changes the stored description of the task, for example after the caller has set `taskDescription`.
  package func describe(_ change: (inout TransferDescription) -> Void) throws(TransferStoreError) {
    try self.change {
      change(&$0.description)
    } _: { changed throws(TransferStoreError) in
      try write(changed)
    }
  }

  /// Removes all files of the task. Removes the record first: if the process ends before the other files are removed, a later
  /// process removes them.
  ///
  /// If the record can't be removed, it is emptied instead, so that the task doesn't run again. Later changes of the record fail.
  /// Has no effect after the store was closed.
  package func remove() {
    ownership.whileOpen {
      state.withLock { state in
        state.isRemoved = true
        removeFiles()
      }
    }
  }

  private func removeFiles() {
    for attempt in 1...Self.attemptsMax {
      do throws(SystemError) {
        try ownership.folder.remove(TransferFileName.record(id).text)
        break
      } catch {
        if error.code == ENOENT { break }
        if attempt == Self.attemptsMax, let file = try? reopenedRecord() {
          try? file.truncate(to: 0)
        }
      }
    }
    for name in [TransferFileName.answer(id), .body(id)] { try? ownership.folder.remove(name.text) }
  }

  private func reopenedRecord() throws(SystemError) -> WritableFile {
    try WritableFile(reopening: TransferFileName.record(id).text, in: ownership.folder)
  }

  private func overwriteSlot(of content: TransferRecordContent) throws(SystemError) {
    let file = try reopenedRecord()
    // The slots are at the end.
    let end = try file.byteCount()
    let slots = UInt64(TransferFormat.slotCount * TransferFormat.slotByteCount)
    guard end >= slots else { throw SystemError(call: "read \(path(.record(id)))", code: ENODATA) }
    let offset = end - slots + UInt64(content.slotIndex * TransferFormat.slotByteCount)
    let slot = content.slot(id: id)
    try file.write(slot.span, at: offset)
    try file.synchronize()
    try file.close()
  }

  /// Writes the record of a new task.
  func create(_ content: TransferRecordContent) throws(TransferStoreError) {
    try whileRecorded { _ throws(TransferStoreError) in try write(content) }
  }

  private func write(_ content: TransferRecordContent) throws(TransferStoreError) {
    guard content.description.isRecordable else { throw .tooLarge }
    try replace(.record(id), with: content.bytes(id: id))
  }

  /// Writes a file under a temporary name. Renames the file when it is complete and on the disk.
  private func replace(_ name: TransferFileName, with bytes: [UInt8]) throws(TransferStoreError) {
    let folder = ownership.folder
    let temporary = TransferFileName.temporary(name.text).text
    // Removes the temporary file that a failed attempt may have left.
    try? folder.remove(temporary)
    do throws(SystemError) {
      let file = try WritableFile(creating: temporary, in: folder)
      try file.write(bytes.span, at: 0)
      try file.synchronize()
      try file.close()
      try folder.move(temporary, to: name.text, replaces: true)
    } catch {
      try? folder.remove(temporary)
      throw .system(error)
    }
  }

  // MARK: The response

  /// Stores the head of the response whose body will be written. The file for the body must be empty or absent.
  package func setAnswer(_ answer: TransferAnswer) throws(TransferStoreError) {
    guard let bytes = answer.bytes(id: id) else { throw .tooLarge }
    try whileRecorded { _ throws(TransferStoreError) in try replace(.answer(id), with: bytes) }
  }

  /// Removes the stored head of the response. Called before the file with the body is emptied.
  package func removeAnswer() throws(TransferStoreError) { try removeFile(.answer(id)) }

  /// Removes the file with the response's body. Called before the head of another response is stored. If the file remained, a later
  /// process would append the rest of one representation to the bytes of another.
  package func removeBody() throws(TransferStoreError) { try removeFile(.body(id)) }

  private func removeFile(_ name: TransferFileName) throws(TransferStoreError) {
    try whileRecorded { _ throws(TransferStoreError) in
      do throws(SystemError) {
        try ownership.folder.remove(name.text)
      } catch  where error.code == ENOENT {
      } catch {
        throw .system(error)
      }
    }
  }

  /// Calls `call`, which changes the task's files or the record's content. Throws `.closed` after `remove`, or after the store was
  /// closed, because the files may then belong to another process.
  private func whileRecorded(
    _ call: (inout TransferRecordContent) throws(TransferStoreError) -> Void
  ) throws(TransferStoreError) {
    let result = ownership.whileOpen {
      state.withLock { state -> Result<Void, TransferStoreError> in
        guard !state.isRemoved else { return .failure(.closed) }
        return Result { () throws(TransferStoreError) in try call(&state.content) }
      }
    }
    guard let result else { throw .closed }
    try result.get()
  }

  /// The stored head of the response, or nil if there is none or it is damaged.
  package var answer: TransferAnswer? {
    let limit = TransferFormat.preambleByteCount + TransferFormat.headBytesMax
    return (try? File.content(of: path(.answer(id)), byteCountMax: limit)).flatMap { TransferAnswer($0, id: id) }
  }

  /// Returns the size in bytes of the file with the response's body, or nil if the file doesn't exist. Throws an error if the
  /// file's name leads to a file that this program hasn't created, such as by a symbolic link.
  package func bodyByteCount() throws(TransferStoreError) -> UInt64? {
    do throws(SystemError) {
      return try File(readingOwn: bodyPath).byteCount()
    } catch  where error.code == ENOENT {
      return nil
    } catch {
      throw .system(error)
    }
  }

  /// Returns what this process must do with a task that an earlier process has left unfinished.
  ///
  /// If the size of the body's file can't be read, for example because the process has no descriptors left, this method assumes
  /// that the file has changed. A download then starts over, and the response to an answered upload is lost.
  package func recovery() -> TransferRecovery {
    let (kind, progress) = state.withLock { ($0.content.description.kind, $0.content.progress) }
    do throws(TransferStoreError) {
      return .decide(kind, progress, hasAnswer: answer != nil, bodyByteCount: try bodyByteCount())
    } catch {
      return .decide(kind, progress, hasAnswer: false, bodyByteCount: .max)
    }
  }
}
