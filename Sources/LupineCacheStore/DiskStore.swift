// DiskStore: stores responses in a folder, one file per record, shared with other processes.

package import LupineCache
package import LupineReactor
internal import Synchronization

/// The reason why a store can't read or write a record.
package enum DiskStoreError: Error, Sendable, Hashable {
  case system(SystemError)
  /// The file isn't a complete record of this format.
  case damaged
  case headTooLarge
  /// The record would exceed the store's capacity.
  case bodyTooLarge
}

/// A store in a folder, within a capacity. It is thread-safe, and several processes may use the same folder.
///
/// The folder is scanned when the store is created, and again after a sixteenth of the capacity has been
/// written, to find the records of other processes. Between scans, n processes can exceed the capacity by n
/// sixteenths. Other files in the folder aren't changed.
package final class DiskStore: Sendable {
  /// The divisor of the capacity: after a sixteenth of the capacity has been written, the folder is scanned again.
  private static let scanDivisor = 16

  private struct State {
    var index: CacheIndex<UInt64, RecordName>
    var writtenSinceScan: UInt64 = 0
  }

  private let folder: String
  private let state: Mutex<State>

  /// Opens a folder, or creates one that only this user can access, and deletes the records that exceed the capacity.
  package init(folder: String, capacity: Int) throws(SystemError) {
    self.folder = folder
    state = Mutex(State(index: CacheIndex(capacity: capacity)))
    try Folder.create(folder)
    try scan()
  }

  package var capacity: Int {
    get { state.withLock { $0.index.capacity } }
    set { delete(state.withLock { $0.index.setCapacity(newValue) }) }
  }

  /// The size of the records that this process knows of, in bytes.
  package var byteCount: Int { state.withLock { $0.index.byteCount } }

  package var count: Int { state.withLock { $0.index.count } }

  func path(of name: String) -> String { "\(folder)/\(name)" }

  /// Calls `body` with each record of a URI. Damaged records are deleted.
  package func forEachRecord(of uri: String, _ body: (borrowing RecordReader) -> Void) {
    let names = state.withLock { $0.index.records(for: RecordName.key(of: uri)).map(\.record) }
    for name in names {
      guard let reader = open(name) else { continue }
      // Two URIs can have the same key.
      if reader.uri == uri { body(reader) }
    }
  }

  /// Opens a record and marks it as the most recently used one. Returns nil if it no longer exists.
  package func open(_ id: UInt64) -> RecordReader? {
    guard let name = state.withLock({ $0.index.use(id) }), let reader = open(name) else { return nil }
    // The file's time shows the use to other processes and later ones. If the call fails, the
    // record merely seems to have been used earlier.
    try? File.touch(path(of: name.text))
    return reader
  }

  private func open(_ name: RecordName) -> RecordReader? {
    do throws(DiskStoreError) {
      return try RecordReader(path(of: name.text), expecting: name)
    } catch {
      // The record is damaged, or another process has deleted it. After other errors, such
      // as too many open files, the file isn't removed.
      if error == .damaged || error.isMissingFile { remove(name.id) }
      return nil
    }
  }

  /// Starts to write a record. `id` must be random.
  package func writer(uri: String, response: StoredResponse, id: UInt64) throws(DiskStoreError) -> RecordWriter {
    try RecordWriter(self, uri: uri, response: response, id: id)
  }

  /// Rewrites a record's body with other metadata, for example after a 304, and deletes the old record.
  package func replace(_ id: UInt64, with response: StoredResponse, newID: UInt64) throws(DiskStoreError) {
    guard let name = state.withLock({ $0.index.use(id) }), let reader = open(name) else { return }
    let writer = try writer(uri: reader.uri, response: response, id: newID)
    for number in 0..<reader.blockCount {
      let block = try reader.block(number)
      try writer.append(block.span)
    }
    try writer.commit { _ in false }
    remove(id)
  }

  package func remove(_ id: UInt64) { delete(state.withLock { $0.index.remove(id).map { [$0] } ?? [] }) }

  /// Removes all responses of a URI from all partitions.
  package func removeAll(for uri: String) {
    var ids: [UInt64] = []
    forEachRecord(of: uri) { ids.append($0.id) }
    for id in ids { remove(id) }
  }

  /// Removes the records whose responses fulfill the condition. It must open each record.
  package func removeAll(where isRemoved: (StoredResponse) -> Bool) {
    for id in state.withLock({ $0.index.ids }) {
      guard let name = state.withLock({ $0.index[id] }), let reader = open(name) else { continue }
      if isRemoved(reader.response) { remove(id) }
    }
  }

  /// Removes all records of this process and of others.
  package func removeAll() throws(SystemError) {
    try scan()
    delete(state.withLock { $0.index.removeAll { _ in true } })
  }

  /// Adds a record that has been written.
  func add(_ name: RecordName, uri: String, superseding isSuperseded: (StoredResponse) -> Bool) {
    var superseded: [UInt64] = []
    // A scan of another thread may already have found the new record.
    forEachRecord(of: uri) { if $0.id != name.id, isSuperseded($0.response) { superseded.append($0.id) } }
    for id in superseded { remove(id) }
    let (dropped, needsScan) = state.withLock { state in
      state.writtenSinceScan += name.byteCount
      let needsScan = state.writtenSinceScan > UInt64(state.index.capacity / Self.scanDivisor)
      return (state.index.insert(name, id: name.id, for: name.key, byteCount: Int(name.byteCount)), needsScan)
    }
    delete(dropped)
    // If the folder can't be scanned now, it is scanned after the next record.
    if needsScan { try? scan() }
  }

  /// Scans the folder: adds the records of other processes in the order of their last use, removes missing records from the
  /// index, and deletes the files that terminated processes have left.
  private func scan() throws(SystemError) {
    // Reads the identifiers before the folder, so that records stored in the meantime don't count as deleted.
    let known = Set(state.withLock { $0.index.ids })
    let names = try Folder.names(in: folder)
    for name in names where RecordName.isTemporary(name) { removeIfAbandoned(path(of: name)) }
    let found = names.compactMap { RecordName($0) }
    let new = found.filter { !known.contains($0.id) }.map { name in
      (name: name, time: (try? File.modificationTime(path(of: name.text))) ?? 0)
    }.sorted { $0.time < $1.time }
    let present = Set(found.map(\.id))
    let dropped = state.withLock { state in
      state.writtenSinceScan = 0
      for id in known where !present.contains(id) { state.index.remove(id) }
      return new.filter { state.index[$0.name.id] == nil }.flatMap { entry in
        state.index.insert(
          entry.name, id: entry.name.id, for: entry.name.key, byteCount: Int(clamping: entry.name.byteCount))
      }
    }
    delete(dropped)
  }

  /// Removes a temporary file if its writer has ended, because no process then holds its lock.
  private func removeIfAbandoned(_ path: String) {
    guard let file = try? File(reading: path), (try? file.lock()) != nil else { return }
    try? File.remove(path)
  }

  private func delete(_ dropped: [CacheIndex<UInt64, RecordName>.Dropped]) {
    // The file may already be gone, because another process has deleted it.
    for entry in dropped { try? File.remove(path(of: entry.record.text)) }
  }
}

extension DiskStoreError {
  /// Runs a call and converts its error.
  static func wrapping<Value: ~Copyable>(_ call: () throws(SystemError) -> Value) throws(DiskStoreError) -> Value {
    do throws(SystemError) {
      return try call()
    } catch {
      throw .system(error)
    }
  }

  /// Whether the file doesn't exist (ENOENT).
  fileprivate var isMissingFile: Bool { if case .system(let error) = self { error.code == 2 } else { false } }
}
