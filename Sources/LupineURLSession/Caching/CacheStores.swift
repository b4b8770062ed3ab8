// CacheStores: the responses that a URLCache stores in memory and in files, and the queue on which files are read and written.

import Foundation
import LupineCache
import LupineCacheStore
import Synchronization

/// A stored response that a lookup for a URI has found.
struct FoundResponse: Sendable {
  /// Where the lookup has found the response: in memory, together with its body, or in a file.
  enum Body: Sendable {
    case memory(id: UInt64, CachedURLResponse)
    case file(id: UInt64)
  }

  let response: StoredResponse
  let body: Body
}

/// The open file of a stored response, from which its body is read.
final class RecordFile: Sendable {
  let reader: RecordReader

  init(_ reader: consuming RecordReader) { self.reader = reader }

  var byteCount: UInt64 { reader.response.bodyByteCount }

  /// Reads the file block that contains the body's byte at `offset`. Returns the body's bytes from `offset` to the end of that
  /// block. `offset` must be less than `byteCount`.
  func bytes(from offset: UInt64) throws(DiskStoreError) -> Data {
    let size = UInt64(RecordFormat.blockByteCount)
    return Data(try reader.block(offset / size).dropFirst(Int(offset % size)))
  }

  /// Reads and returns the entire body.
  func contents() throws(DiskStoreError) -> Data {
    var data = Data()
    for number in 0..<reader.blockCount { data.append(contentsOf: try reader.block(number)) }
    return data
  }
}

/// The responses that a cache stores, in memory and in the files of a folder.
///
/// A change takes effect in memory immediately. Files are read and written later on one serial queue, in the order of the calls, so
/// that each lookup in files sees all earlier changes. Only callers of `waitForFiles` wait for the disk.
final class CacheStores: Sendable {
  /// The divisor that limits the size of a response: a response may occupy at most a twentieth of the larger of the two capacities,
  /// in memory and on disk, as in Foundation.
  private static let responseDivisor = 20
  /// The maximum total size, in bytes, of the bodies that wait to be written to files: 32 MiB. While that limit is reached because
  /// the disk is slow, new responses are stored in memory only.
  static let unwrittenBytesMax = 32 << 20
  /// The maximum size, in bytes, of a body that is read from its file at once and then kept in memory: 1 MiB. Longer bodies are
  /// read block by block.
  static let loadedBytesMax: UInt64 = 1 << 20

  /// The state of the folder that contains the files of stored responses.
  private enum Disk {
    /// The folder hasn't been opened yet. It is opened when a file is first needed, unless the capacity on disk is 0.
    case closed
    case open(DiskStore)
    /// The folder can't be created or read, so responses are stored in memory only.
    case unusable
  }

  private struct DiskState {
    var disk = Disk.closed
    var capacity: Int
    var unwrittenByteCount = 0
  }

  let memory: MemoryStore<CachedURLResponse>
  private let folder: @Sendable () -> String
  private let diskState: Mutex<DiskState>
  private let clock: @Sendable () -> Date
  private let unwrittenBytesMax: Int
  private let queue = DispatchQueue(label: "lupine.cache")

  /// - Parameters:
  ///   - memoryCapacity: The maximum memory for stored responses, in bytes.
  ///   - diskCapacity: The maximum total size of the files, in bytes.
  ///   - folder: A closure that returns the path of the folder for the files. It is called when the folder is first needed.
  ///   - clock: A closure that returns the current time.
  ///   - unwrittenBytesMax: The maximum total size, in bytes, of the bodies that wait to be written to files.
  init(
    memoryCapacity: Int, diskCapacity: Int, folder: @escaping @Sendable () -> String,
    clock: @escaping @Sendable () -> Date, unwrittenBytesMax: Int = CacheStores.unwrittenBytesMax
  ) {
    memory = MemoryStore(capacity: memoryCapacity)
    self.folder = folder
    diskState = Mutex(DiskState(capacity: max(0, diskCapacity)))
    self.clock = clock
    self.unwrittenBytesMax = unwrittenBytesMax
  }

  /// The current time in whole seconds since 1970.
  var now: Int64 { Int64(clock().timeIntervalSince1970.rounded(.down)) }

  /// The maximum size, in bytes, of a response that sessions store.
  var responseBytesMax: Int { max(memory.capacity, diskCapacity) / Self.responseDivisor }

  var diskCapacity: Int {
    get { diskState.withLock { $0.capacity } }
    set {
      diskState.withLock { $0.capacity = max(0, newValue) }
      onQueue { if case .open(let store) = self.diskState.withLock({ $0.disk }) { store.capacity = max(0, newValue) } }
    }
  }

  // MARK: The queue

  /// Performs work with files asynchronously on the files' queue, after all earlier work.
  func onQueue(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Performs work with files on the files' queue, after all earlier work, and waits until it is done.
  func waitForFiles<Value>(_ work: () -> Value) -> Value { queue.sync(execute: work) }

  /// The store of responses on disk, which is opened on first use. Nil if the capacity on disk is 0 or the folder can't be used.
  /// Must be used on the files' queue.
  var disk: DiskStore? {
    let (current, capacity) = diskState.withLock { ($0.disk, $0.capacity) }
    switch current {
    case .open(let store): return store
    case .unusable: return nil
    case .closed:
      guard capacity > 0 else { return nil }
      let opened = (try? DiskStore(folder: folder(), capacity: capacity)).map(Disk.open) ?? .unusable
      diskState.withLock { $0.disk = opened }
      return if case .open(let store) = opened { store } else { nil }
    }
  }

  /// Returns whether files may contain responses for the URI. False is certain, whereas true only means that a lookup is necessary.
  /// Reads no file.
  func mayHaveFiles(of uri: String) -> Bool {
    let (current, capacity) = diskState.withLock { ($0.disk, $0.capacity) }
    return switch current {
    case .open(let store): store.mayHaveRecords(of: uri)
    case .closed: capacity > 0
    case .unusable: false
    }
  }

  // MARK: Lookup

  /// Returns the responses for the URI that are stored in memory.
  func foundInMemory(_ uri: String) -> [FoundResponse] {
    memory.records(for: uri).map {
      FoundResponse(response: $0.record.response, body: .memory(id: $0.id, $0.record.content))
    }
  }

  /// Returns the responses for the URI: all that are in memory, and those in files unless a newer version is in memory. Called on
  /// the files' queue.
  func found(_ uri: String) -> [FoundResponse] {
    var found = foundInMemory(uri)
    disk?.forEachRecord(of: uri) { record in
      let response = record.response
      if !found.contains(where: { $0.response.isVersion(of: response) }) {
        found.append(FoundResponse(response: response, body: .file(id: record.id)))
      }
    }
    return found
  }

  /// Opens the file of the stored response with this identifier. Returns nil if the response is no longer stored. Called on the
  /// files' queue.
  func open(_ id: UInt64) -> RecordFile? {
    guard let reader = disk?.open(id) else { return nil }
    return RecordFile(reader)
  }

  /// Deletes the file of a stored response. Called on the files' queue.
  func remove(_ file: RecordFile) { disk?.remove(file.reader.id) }

  /// Reads a stored response from its file, and stores it in memory too. If the file is damaged, deletes it and returns nil. Called
  /// on the files' queue.
  func load(_ file: RecordFile, for url: URL) -> CachedURLResponse? {
    guard let data = try? file.contents() else {
      remove(file)
      return nil
    }
    let stored = file.reader.response
    let head = HTTPURLResponse(
      url: url, statusCode: stored.status, fields: stored.fields, isContentDecoded: stored.bodyForm == .decoded)
    let cached = CachedURLResponse(response: head, data: data)
    memory.restore(
      MemoryStore.Record(uri: file.reader.uri, response: stored, content: cached), unless: { $0.isVersion(of: stored) })
    return cached
  }

  // MARK: Changes

  /// Changes the responses in memory now, and the files after all earlier work on their queue. Until the files have been changed, a
  /// response that is read from a file isn't put into memory, because that would undo the change.
  private func change(_ inMemory: () -> Void, inFiles work: @escaping @Sendable () -> Void) {
    memory.beginChange()
    inMemory()
    onQueue {
      work()
      self.memory.endChange()
    }
  }

  /// Stores a response, and replaces an earlier response to the same request. A response that only one session may use is stored
  /// in memory only.
  func store(_ content: CachedURLResponse, as response: StoredResponse, to request: CacheRequest) {
    let uri = request.uri.cacheKey
    let insert = {
      self.memory.insert(MemoryStore.Record(uri: uri, response: response, content: content)) {
        $0.isSuperseded(by: response, to: request)
      }
    }
    guard diskCapacity > 0, response.partition == .anonymous else { return insert() }
    let isWritten = content.storagePolicy == .allowed && reserve(content.data.count)
    change(insert) {
      if isWritten {
        do throws(DiskStoreError) {
          try self.write(content.data, response, to: request)
        } catch {
          // The disk may be full. Then the response is stored only in memory.
          self.removeFiles(supersededBy: response, to: request)
        }
        self.diskState.withLock { $0.unwrittenByteCount -= content.data.count }
      } else {
        self.removeFiles(supersededBy: response, to: request)
      }
    }
  }

  /// Removes the stored responses that `response` supersedes. Called if `response` itself isn't stored.
  func removeSuperseded(by response: StoredResponse, to request: CacheRequest) {
    let uri = request.uri.cacheKey
    let remove = { self.memory.update(uri, where: { $0.isSuperseded(by: response, to: request) }, { _ in nil }) }
    guard response.partition == .anonymous, diskCapacity > 0 else { return remove() }
    // Removes files after all earlier work, because an earlier response may not have been written yet.
    change(remove) { self.removeFiles(supersededBy: response, to: request) }
  }

  /// Deletes the files of stored responses that `response` supersedes. Otherwise the cache would serve them again once `response`
  /// has been evicted from memory. Called on the files' queue.
  private func removeFiles(supersededBy response: StoredResponse, to request: CacheRequest) {
    disk?.removeAll(for: request.uri.cacheKey) { $0.isSuperseded(by: response, to: request) }
  }

  private func reserve(_ byteCount: Int) -> Bool {
    diskState.withLock { state in
      guard byteCount <= unwrittenBytesMax - state.unwrittenByteCount else { return false }
      state.unwrittenByteCount += byteCount
      return true
    }
  }

  private func write(_ data: Data, _ response: StoredResponse, to request: CacheRequest) throws(DiskStoreError) {
    guard let disk else { return }
    let writer = try disk.writer(uri: request.uri.cacheKey, response: response, id: .random(in: .min ... .max))
    var rest = data[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(RecordFormat.blockByteCount))
      try writer.append(part.span)
      rest = rest.dropFirst(part.count)
    }
    try writer.commit { $0.isSuperseded(by: response, to: request) }
  }

  /// Updates the fields of stored responses, for example after a 304. The index of each update refers to `found`, the result of the
  /// lookup. A response that was replaced after the lookup isn't changed.
  func apply(_ updates: [StoredUpdate], to found: [FoundResponse], of uri: String) {
    guard !updates.isEmpty else { return }
    let changes = updates.map {
      (old: found[$0.index].response, new: found[$0.index].response.changed(by: $0.change), change: $0.change)
    }
    let update = {
      for (old, new, _) in changes {
        self.memory.update(uri, where: { $0 == old }) { record in new.map { record.with($0) } }
      }
    }
    guard diskCapacity > 0 else { return update() }
    change(update) {
      guard let disk = self.disk else { return }
      for (old, new, change) in changes {
        var ids: [UInt64] = []
        disk.forEachRecord(of: uri) { if $0.response == old { ids.append($0.id) } }
        for id in ids {
          guard let new, new.partition == .anonymous else {
            disk.remove(id)
            continue
          }
          do throws(DiskStoreError) {
            try disk.replace(id, with: new, newID: .random(in: .min ... .max))
          } catch {
            // If the change can't be written, for example because the disk is full, a validated record keeps its old metadata
            // and is validated again. An invalidated record is removed.
            if change == .invalidate { disk.remove(id) }
          }
        }
      }
    }
  }

  func removeAll(for uri: String) {
    guard diskCapacity > 0 else { return memory.removeAll(for: uri) }
    change({ memory.removeAll(for: uri) }, inFiles: { self.disk?.removeAll(for: uri) })
  }

  /// Removes all stored responses, including those that other processes have stored in the folder.
  func removeAll() {
    change({ memory.removeAll { _ in true } }, inFiles: { try? self.disk?.removeAll() })
  }

  /// Removes the stored responses for which `isRemoved` returns true.
  func removeAll(where isRemoved: @escaping @Sendable (StoredResponse) -> Bool) {
    change({ memory.removeAll(where: isRemoved) }, inFiles: { self.disk?.removeAll(where: isRemoved) })
  }
}

extension StoredResponse {
  /// Whether this response and `other` answer the same requests, so that one supersedes the other.
  fileprivate func isVersion(of other: StoredResponse) -> Bool {
    partition == other.partition && selectingFields == other.selectingFields
  }

  /// Returns this response with the change applied, or nil if the change removes the response.
  fileprivate func changed(by change: StoredUpdate.Change) -> StoredResponse? {
    switch change {
    case .replace(let new): return new
    case .remove: return nil
    case .invalidate:
      var invalidated = self
      invalidated.state = .invalidated
      return invalidated
    }
  }
}

extension MemoryStore<CachedURLResponse>.Record {
  /// Returns a copy of this record with the metadata and the response head of `response`. The body stays the same.
  fileprivate func with(_ response: StoredResponse) -> Self {
    let old = content.response
    let head = old.url.map { url in
      HTTPURLResponse(
        url: url, statusCode: response.status, fields: response.fields, isContentDecoded: response.bodyForm == .decoded)
    }
    return Self(
      uri: uri, response: response,
      content: CachedURLResponse(
        response: head ?? old, data: content.data, userInfo: content.userInfo, storagePolicy: content.storagePolicy))
  }
}
