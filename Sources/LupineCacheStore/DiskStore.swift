// DiskStore: stores responses in a folder, one file per record, shared with other processes.

package import LupineCache
package import LupineReactor
internal import Synchronization

/// The reason why the cache's disk store can't read or write a record.
package enum DiskStoreError: Error, Sendable, Hashable {
  case system(SystemError)
  /// The file isn't a complete record in the store's format.
  case damaged
  case headTooLarge
  /// The record would be larger than the store's capacity.
  case bodyTooLarge
  /// The body of a part is longer or shorter than its Content-Range says.
  case wrongLength
}

/// A store of cached responses in a folder, limited by a capacity in bytes. It is thread-safe, and several processes may use the
/// same folder.
///
/// The store scans the folder for the records of other processes when it is created, and again whenever this process has written a
/// sixteenth of the capacity. Between scans, n processes can exceed the capacity by n sixteenths. The store doesn't change files
/// that aren't records.
package final class DiskStore: Sendable {
  /// The divisor that determines when the store scans the folder again: 16. A scan takes place when this process has written a
  /// sixteenth of the capacity.
  private static let scanDivisor = 16

  private struct State: ~Copyable {
    var index: CacheIndex<UInt64, RecordName>
    var writtenSinceScan: UInt64 = 0
  }

  let folder: Folder
  private let key: FolderKey
  private let state: Mutex<State>

  /// Opens the cache folder. Creates the folder with access for the current user only if it doesn't exist. Then deletes the least
  /// recently used records until the rest fits into the capacity.
  package init(folder path: String, capacity: Int) throws(SystemError) {
    folder = try Folder(creating: path)
    let (key, isNew) = try FolderKey.load(from: folder)
    self.key = key
    state = Mutex(State(index: CacheIndex(capacity: capacity)))
    // The records were written without this key: by an earlier version, or before the key was lost. No lookup can find them.
    if isNew { for name in try folder.names() where RecordName(name) != nil { try? folder.remove(name) } }
    try scan()
  }

  package var capacity: Int {
    get { state.withLock { $0.index.capacity } }
    set { delete(state.withLock { $0.index.setCapacity(newValue) }) }
  }

  /// The disk space in bytes that the records known to this process occupy. The size of each record is rounded up to whole
  /// blocks.
  package var byteCount: Int { state.withLock { $0.index.byteCount } }

  package var count: Int { state.withLock { $0.index.count } }

  /// Returns the key of a URI, by which the index and the names of files find its records. Different URIs may have the same key, so
  /// readers must compare the URI in the record.
  func key(of uri: String) -> UInt64 { key.hash.of(uri.utf8) }

  /// Returns whether this process knows a record with the key of the URI. The record may be that of another URI, because different
  /// URIs can have the same key. Reads no file, and creates no text of the URI.
  package func mayHaveRecords(of uri: CacheKey) -> Bool {
    state.withLock { $0.index.hasRecords(for: key.hash.ofTexts(uri.forEachPart)) }
  }

  /// Calls `body` with each stored record of a URI. Deletes damaged records.
  package func forEachRecord(of uri: String, _ body: (RecordReader) -> Void) {
    let names = state.withLock { $0.index.records(for: key(of: uri)).map(\.record) }
    for name in names {
      guard let reader = open(name) else { continue }
      // The URIs are compared, because two URIs can have the same key.
      if reader.uri == uri { body(reader) }
    }
  }

  /// Opens a record and marks it as the most recently used one. Returns nil if the record no longer exists.
  package func open(_ id: UInt64) -> RecordReader? {
    guard let name = state.withLock({ $0.index[id] }), let reader = open(name) else { return nil }
    use(id)
    return reader
  }

  /// Marks a record as the most recently used one.
  package func use(_ id: UInt64) {
    guard let name = state.withLock({ $0.index.use(id) }) else { return }
    // Sets the file's modification time, from which other processes see when the record was last used. If the call fails, they only
    // see an earlier time.
    try? folder.touch(name.text)
  }

  private func open(_ name: RecordName) -> RecordReader? { try? reader(of: name) }

  /// Opens a record. Removes the record if it is damaged or another process has deleted it. After other errors, such as too many
  /// open files, the file isn't removed.
  private func reader(of name: RecordName) throws(DiskStoreError) -> RecordReader {
    do throws(DiskStoreError) {
      return try RecordReader(name, in: self)
    } catch {
      if error == .damaged || error.isMissingFile { remove(name.id) }
      throw error
    }
  }

  /// Creates a writer for a new record. `id` must be random, so that it is unique in the folder.
  package func writer(uri: String, response: StoredResponse, id: UInt64) throws(DiskStoreError) -> RecordWriter {
    try RecordWriter(self, uri: uri, response: response, id: id)
  }

  /// Replaces the metadata of a stored record, for example after a 304. Copies the body to a new record with the identifier
  /// `newID`, and deletes the old record. Does nothing if the record is no longer stored. Throws an error if its file can't be
  /// opened.
  package func replace(_ id: UInt64, with response: StoredResponse, newID: UInt64) throws(DiskStoreError) {
    guard let name = state.withLock({ $0.index.use(id) }) else { return }
    let reader = try reader(of: name)
    let writer = try writer(uri: reader.uri, response: response, id: newID)
    try writer.append(0..<reader.response.bodyByteCount, of: reader)
    try writer.commit { _ in false }
    remove(id)
  }

  package func remove(_ id: UInt64) { delete(state.withLock { $0.index.remove(id).map { [$0] } ?? [] }) }

  /// Removes all stored responses of a URI. Reads no file. If another URI has the same key, its responses are removed as well.
  package func removeAll(for uri: String) {
    delete(state.withLock { $0.index.removeAll(for: key(of: uri)) })
  }

  /// Removes the stored responses of a URI for which `isRemoved` returns true, and those that can't be opened.
  package func removeAll(for uri: String, where isRemoved: (StoredResponse) -> Bool) {
    for id in ids(for: uri, where: isRemoved) { remove(id) }
  }

  /// Returns the identifiers of a URI's records for which `isSelected` returns true. Includes records that can't be opened now, for
  /// example because the process has too many open files: `isSelected` might return true for them, and they could be served later.
  private func ids(for uri: String, where isSelected: (StoredResponse) -> Bool) -> [UInt64] {
    let names = state.withLock { $0.index.records(for: key(of: uri)).map(\.record) }
    return names.filter { name in
      guard let reader = open(name) else { return true }
      return reader.uri == uri && isSelected(reader.response)
    }.map(\.id)
  }

  /// Removes the stored responses for which `isRemoved` returns true, including those of other processes, and those that can't be
  /// read. This takes a while, because each record's file is opened.
  ///
  /// Keeps the records that can't be opened only because the process or the system has no descriptors or memory left. Otherwise a
  /// shortage that is soon over would empty the cache.
  package func removeAll(where isRemoved: (StoredResponse) -> Bool) {
    // If the scan fails, only the records that this process knows are removed.
    try? scan()
    for id in state.withLock({ $0.index.ids }) {
      guard let name = state.withLock({ $0.index[id] }) else { continue }
      if matches(name, isRemoved) { remove(id) }
    }
  }

  /// Returns whether `isSelected` returns true for a record's response, or the record can't be read for a lasting reason.
  private func matches(_ name: RecordName, _ isSelected: (StoredResponse) -> Bool) -> Bool {
    do throws(DiskStoreError) {
      let record = try reader(of: name)
      return isSelected(record.response)
    } catch {
      return !error.isShortage
    }
  }

  /// Removes all records from the folder, including those of other processes. If the folder can't be read, removes the records that
  /// this process knows, and then throws the error.
  package func removeAll() throws(SystemError) {
    defer { delete(state.withLock { $0.index.removeAll { _ in true } }) }
    try scan()
  }

  /// Adds a record that has been written to the index. Removes the stored responses of the same URI for which `isSuperseded`
  /// returns true.
  func add(_ name: RecordName, uri: String, superseding isSuperseded: (StoredResponse) -> Bool) {
    // A scan on another thread may already have found the new record.
    for id in ids(for: uri, where: isSuperseded) where id != name.id { remove(id) }
    let (dropped, needsScan) = state.withLock { state in
      state.writtenSinceScan += UInt64(name.occupiedByteCount)
      let needsScan = state.writtenSinceScan > UInt64(state.index.capacity / Self.scanDivisor)
      return (state.index.insert(name, id: name.id, for: name.key, byteCount: name.occupiedByteCount), needsScan)
    }
    delete(dropped)
    // If the scan fails, the folder is scanned again after the next record was written.
    if needsScan { try? scan() }
  }

  /// Scans the folder. Adds the records of other processes to the index in the order of their last use, removes records from the
  /// index whose files no longer exist, and deletes the temporary files of terminated processes.
  private func scan() throws(SystemError) {
    // The identifiers are read before the folder, so that records stored in the meantime don't count as deleted.
    let known = Set(state.withLock { $0.index.ids })
    let names = try folder.names()
    for name in names where RecordName.isTemporary(name) { removeIfAbandoned(name) }
    let found = names.compactMap { RecordName($0) }
    let new = found.filter { !known.contains($0.id) }.map { name in
      (name: name, time: (try? folder.modificationTime(of: name.text)) ?? 0)
    }.sorted { $0.time < $1.time }
    let present = Set(found.map(\.id))
    let dropped = state.withLock { state in
      state.writtenSinceScan = 0
      for id in known where !present.contains(id) { state.index.remove(id) }
      return new.filter { state.index[$0.name.id] == nil }.flatMap { entry in
        state.index.insert(
          entry.name, id: entry.name.id, for: entry.name.key, byteCount: entry.name.occupiedByteCount)
      }
    }
    delete(dropped)
  }

  /// Removes a temporary file if no process has locked it, which means that the process that wrote it has ended.
  private func removeIfAbandoned(_ name: String) {
    guard let file = try? File(reading: name, in: folder), (try? file.lock()) != nil else { return }
    try? folder.remove(name)
  }

  private func delete(_ dropped: [CacheIndex<UInt64, RecordName>.Dropped]) {
    // The file may already be gone, because another process has deleted it.
    for entry in dropped { try? folder.remove(entry.record.text) }
  }
}

extension DiskStoreError {
  /// Runs a closure, and converts a `SystemError` that it throws to a `DiskStoreError`.
  static func wrapping<Value: ~Copyable>(_ call: () throws(SystemError) -> Value) throws(DiskStoreError) -> Value {
    do throws(SystemError) {
      return try call()
    } catch {
      throw .system(error)
    }
  }

  /// Whether the error means that the process or the system has no descriptors or memory left, such as EMFILE, ENFILE and ENOMEM.
  fileprivate var isShortage: Bool {
    if case .system(let error) = self { error.isOutOfDescriptors || error.isOutOfMemory } else { false }
  }

  /// Whether the error means that the file or its folder doesn't exist (ENOENT).
  package var isMissingFile: Bool { if case .system(let error) = self { error.code == 2 } else { false } }
}
