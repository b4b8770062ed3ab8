// TransferStore: the folder with the records of a background session, which one process owns at a time.

internal import LupineLibc
package import LupineReactor

/// The reason why the store of background tasks can't be opened, or a record in it can't be written.
package enum TransferStoreError: Error, Sendable, Hashable {
  case system(SystemError)
  /// Another process, or another session of this process, uses the folder.
  case inUse
  /// The description of the task exceeds `TransferFormat.headBytesMax`.
  case tooLarge
  /// The record was removed, or the store was closed. Another process may own the files.
  case closed
}

/// The stored records of a background session's tasks. Methods may be called on any thread.
///
/// A record is always either complete or absent, even if the process ends at any time or a system call fails.
package final class TransferStore: Sendable {
  /// The path of the folder that contains the records.
  package let folder: String
  /// The records of tasks that an earlier process has left, in the order of their ids.
  package let recovered: [TransferRecord]
  /// The ids of tasks whose records were damaged. The files of these tasks have been removed.
  package let damagedIDs: [UInt64]
  private let ownership: TransferOwnership

  /// Opens the folder of a background session, or creates it with access for this user only. Removes files that belong to no task.
  ///
  /// Throws `TransferStoreError.inUse` if another session uses the folder, and `.system` if the folder can't be opened, or if a
  /// record can't be read for a reason other than its content, such as too many open files, so that no task is lost. A name that
  /// doesn't lead to a file of this store, such as a symbolic link or a FIFO, counts as a damaged record.
  package init(folder: String) throws(TransferStoreError) {
    self.folder = folder
    let ownership = try Self.acquire(folder)
    self.ownership = ownership
    var recovered: [TransferRecord] = []
    var damaged: [UInt64] = []
    let names = try Self.wrapping { () throws(SystemError) in try ownership.folder.names() }
      .compactMap { TransferFileName($0) }
    for case .record(let id) in names {
      if let content = try Self.read(folder, id) {
        recovered.append(TransferRecord(folder: folder, id: id, content, ownership))
      } else {
        damaged.append(id)
      }
    }
    let ids = Set(recovered.map(\.id))
    for name in names {
      switch name {
      case .record(let id), .answer(let id), .body(let id):
        if !ids.contains(id) { try? ownership.folder.remove(name.text) }
      case .temporary: try? ownership.folder.remove(name.text)
      }
    }
    self.recovered = recovered.sorted { $0.id < $1.id }
    damagedIDs = damaged.sorted()
  }

  /// Creates the record of a new task. `id` must be unique in the folder. Throws `.closed` after `close`.
  package func create(
    id: UInt64, _ description: TransferDescription, _ progress: TransferProgress = TransferProgress()
  ) throws(TransferStoreError) -> TransferRecord {
    let content = TransferRecordContent(description: description, progress: progress, sequence: 0)
    let record = TransferRecord(folder: folder, id: id, content, ownership)
    try record.create(content)
    return record
  }

  /// Releases the folder's lock as soon as the changes in progress have ended, so that another process can open the folder. Later
  /// changes of the records fail.
  package func close() { ownership.end() }

  private static func acquire(_ path: String) throws(TransferStoreError) -> TransferOwnership {
    do throws(SystemError) {
      let folder = try Folder(creating: path)
      let file: WritableFile
      do throws(SystemError) {
        file = try WritableFile(creating: TransferFileName.lock, in: folder)
      } catch  where error.code == EEXIST {
        file = try WritableFile(reopening: TransferFileName.lock, in: folder)
      }
      try file.lock()
      return TransferOwnership(folder, file)
    } catch  where error.call == "flock" && error.code == EWOULDBLOCK {
      throw .inUse
    } catch {
      throw .system(error)
    }
  }

  /// Reads the record of the task `id`. Returns nil if the record is damaged.
  private static func read(_ folder: String, _ id: UInt64) throws(TransferStoreError) -> TransferRecordContent? {
    let path = "\(folder)/\(TransferFileName.record(id).text)"
    let bytes = try wrapping { () throws(SystemError) in
      // An error of `open` doesn't tell whether the name leads to a file of this store.
      try File.isOwn(path) ? try File.content(of: path, byteCountMax: TransferFormat.recordBytesMax) : nil
    }
    return bytes.flatMap { TransferRecordContent($0, id: id) }
  }

  /// Runs a closure, and converts a `SystemError` that it throws to a `TransferStoreError`.
  static func wrapping<Value: ~Copyable>(_ call: () throws(SystemError) -> Value) throws(TransferStoreError) -> Value {
    do throws(SystemError) {
      return try call()
    } catch {
      throw .system(error)
    }
  }
}

extension File {
  /// Reads the file at `path`, which this program has created. Returns nil if it has more than `byteCountMax` bytes.
  static func content(of path: String, byteCountMax: Int) throws(SystemError) -> [UInt8]? {
    let file = try File(readingOwn: path)
    guard let count = Int(exactly: try file.byteCount()), count <= byteCountMax else { return nil }
    return try file.read(upTo: count, at: 0)
  }
}
