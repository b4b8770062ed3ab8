// CacheStores: the responses that a URLCache stores in memory and in files, and the queue on which files are read and written.

import Foundation
import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// A stored response that a lookup for a URI has found.
struct FoundResponse: Sendable {
  /// Where the lookup has found the stored response: in memory, which also contains the body, or in a file.
  enum Body: Sendable {
    case memory(id: UInt64, CachedURLResponse)
    /// The file is open, unless it was closed after the lookup.
    case file(id: UInt64, RecordReader?)
  }

  let response: StoredResponse
  let body: Body

  /// The stored response in memory. Nil if it is in a file.
  var content: CachedURLResponse? { if case .memory(_, let content) = body { content } else { nil } }

  /// The stored response with its file closed.
  var closed: FoundResponse {
    guard case .file(let id, _?) = body else { return self }
    return FoundResponse(response: response, body: .file(id: id, nil))
  }
}

/// The stored responses of a cache, in memory and in the files of a folder.
///
/// A change takes effect in memory immediately. Files are read and written later on one serial queue, in the order of the calls, so
/// that each lookup in files sees all earlier changes. Only `waitForFiles` blocks the caller until the disk has been read or
/// written.
final class CacheStores: Sendable {
  /// The divisor for the maximum size of a stored response: one twentieth of the capacity in memory or on disk, whichever is
  /// larger, as in Foundation.
  private static let responseDivisor = 20
  /// The maximum total size, in bytes, of the bodies that wait to be written to files: 32 MiB. A new response that would exceed
  /// this limit, for example because the disk is slow, is stored in memory only.
  static let unwrittenBytesMax = 32 << 20
  /// The maximum size, in bytes, of a body that is read from its file at once and then also stored in memory: 1 MiB. Longer bodies
  /// are read block by block.
  static let loadedBytesMax: UInt64 = 1 << 20

  /// The state of the folder that contains the files of stored responses.
  private enum Disk {
    /// The folder hasn't been opened yet, or has been deleted. It is opened when a file is next read or written, unless the capacity
    /// on disk is 0.
    case closed
    case open(DiskStore)
    /// The folder can't be created or read, so responses are stored in memory only. The folder is tried again at this time, in
    /// seconds since 1970, and its files are then deleted.
    case unusable(SystemError, retryTime: Int64)
  }

  private struct DiskState {
    var disk = Disk.closed
    var capacity: Int
    var unwrittenByteCount = 0
    var hasWarned = false
    /// The number of responses of each URI that wait to be written to files.
    var unwritten: [CacheKey: Int] = [:]
  }

  /// The time, in seconds, after which a folder that couldn't be used is tried again: 60. In the meantime, lookups cost no system
  /// calls.
  static let retrySeconds: Int64 = 60

  let memory: MemoryStore
  private let stored = Atomic(0)
  let invalidations = InvalidationLog()
  private let folder: @Sendable () -> String
  private let warn: (@Sendable (URLError) -> Void)?
  private let diskState: Mutex<DiskState>
  private let clock: @Sendable () -> Date
  let unwrittenBytesMax: Int
  private let queue = DispatchQueue(label: "lupine.cache")
  /// Held while a change is made in memory and queued for the files, so that all changes have the same order in both.
  private let changing = Mutex(())
  /// Marks the queue, so that work on it can find out which queue it is on.
  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

  /// - Parameters:
  ///   - memoryCapacity: The maximum memory for stored responses, in bytes.
  ///   - diskCapacity: The maximum total size of the files, in bytes.
  ///   - folder: A closure that returns the path of the folder for the files. It is called when the folder is first needed.
  ///   - clock: A closure that returns the current time.
  ///   - unwrittenBytesMax: The maximum total size, in bytes, of the bodies that wait to be written to files.
  ///   - warn: A closure that is called once, when the folder can't be used. Nil to call none.
  init(
    memoryCapacity: Int, diskCapacity: Int, folder: @escaping @Sendable () -> String,
    clock: @escaping @Sendable () -> Date, unwrittenBytesMax: Int = CacheStores.unwrittenBytesMax,
    warn: (@Sendable (URLError) -> Void)? = nil
  ) {
    memory = MemoryStore(capacity: memoryCapacity)
    self.folder = folder
    self.warn = warn
    diskState = Mutex(DiskState(capacity: max(0, diskCapacity)))
    self.clock = clock
    self.unwrittenBytesMax = unwrittenBytesMax
    queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
  }

  /// The number of responses that have been stored so far.
  var storedCount: Int { stored.load(ordering: .acquiring) }

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

  /// Performs work with the cache's files asynchronously, on their serial queue, after all earlier work.
  func onQueue(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Performs work with the cache's files: at once if the caller is on their queue, and otherwise like `onQueue`.
  func onQueueNow(_ work: @escaping @Sendable () -> Void) {
    if isOnQueue { work() } else { onQueue(work) }
  }

  /// Performs work with the cache's files on their serial queue, after all earlier work, and waits until the work is done.
  func waitForFiles<Value>(_ work: () -> Value) -> Value { isOnQueue ? work() : queue.sync(execute: work) }

  private var isOnQueue: Bool { DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(self) }

  /// The store of responses on disk, which is opened on first use. Nil if the capacity on disk is 0 or the folder can't be used.
  /// Must be used only on the files' queue.
  var disk: DiskStore? {
    let (current, capacity) = diskState.withLock { ($0.disk, $0.capacity) }
    switch current {
    case .open(let store): return store
    case .unusable(_, let retryTime) where !isDue(retryTime): return nil
    case .closed: return capacity > 0 ? openDisk(capacity) : nil
    case .unusable: return capacity > 0 ? openDisk(capacity, afterFailure: true) : nil
    }
  }

  private func openDisk(_ capacity: Int, afterFailure: Bool = false) -> DiskStore? {
    do throws(SystemError) {
      let store = try DiskStore(folder: folder(), capacity: capacity)
      // While the folder was unusable, no response was removed from it, so that its files may be outdated.
      if afterFailure { try store.removeAll() }
      diskState.withLock { $0.disk = .open(store) }
      return store
    } catch {
      let retryTime = now + Self.retrySeconds
      let isFirst = diskState.withLock { [error] state in
        defer { (state.disk, state.hasWarned) = (.unusable(error, retryTime: retryTime), true) }
        return !state.hasWarned
      }
      if isFirst { warn?(URLError(unusableCacheFolder: folder(), error)) }
      return nil
    }
  }

  /// Whether a folder that couldn't be used must be tried again. True also if the clock has been set back.
  private func isDue(_ retryTime: Int64) -> Bool { !(retryTime - Self.retrySeconds..<retryTime).contains(now) }

  /// The reason why the folder can't be used. Nil if it can, or if the capacity on disk is 0. Opens the folder if that hasn't been
  /// tried yet. Must be used only on the files' queue.
  var diskFailure: URLError? {
    guard disk == nil, case .unusable(let error, _) = diskState.withLock({ $0.disk }) else { return nil }
    return URLError(unusableCacheFolder: folder(), error)
  }

  /// Returns whether a response for the URI may be stored, in memory or in a file. If false, there is none; if true, a lookup must
  /// find out. Doesn't read any file.
  func mayHaveResponses(of key: @autoclosure () -> CacheKey) -> Bool {
    memory.hasRecords(for: key()) || mayHaveFiles(of: key())
  }

  /// Returns whether there may be a file with a response for the URI, or whether one is about to be written. If false, there is
  /// none; if true, a lookup must find out. Doesn't read any file.
  func mayHaveFiles(of key: @autoclosure () -> CacheKey) -> Bool {
    enum Files { case mayExist, dependOnTime(Int64), known(DiskStore), none }
    let files = diskState.withLock { state -> Files in
      switch state.disk {
      case .open(let store):
        if !state.unwritten.isEmpty, state.unwritten[key()] != nil {
          .mayExist
        } else {
          store.count > 0 ? .known(store) : .none
        }
      case .closed: state.capacity > 0 ? .mayExist : .none
      case .unusable(_, let retryTime): state.capacity > 0 ? .dependOnTime(retryTime) : .none
      }
    }
    return switch files {
    case .mayExist: true
    case .dependOnTime(let retryTime): isDue(retryTime)
    // Usually there are files of other URIs only. The key is created and hashed only if there are any.
    case .known(let store): store.mayHaveRecords(of: key())
    case .none: false
    }
  }

  // MARK: Lookup

  /// Returns the stored responses for the URI that are in memory.
  func foundInMemory(_ key: @autoclosure () -> CacheKey) -> [FoundResponse] {
    memory.records(for: key()) { id, record in
      FoundResponse(response: record.response, body: .memory(id: id, record.content))
    }
  }

  /// Returns the stored responses for the URI: all that are in memory, and those in files that aren't older versions of a response
  /// in memory. Called on the files' queue.
  func found(_ key: CacheKey) -> [FoundResponse] {
    var found = foundInMemory(key)
    disk?.forEachRecord(of: key.text) { record in
      let response = record.response
      // The file is newer if another process has written it.
      if !found.contains(where: { $0.response.isVersion(of: response) && !$0.response.isPreceded(by: response) }) {
        found.append(FoundResponse(response: response, body: .file(id: record.id, record)))
      }
    }
    return found
  }

  /// Returns the open file of a stored response, and marks it as the most recently used one. `file` is the file if a lookup has
  /// left it open. Returns nil if the response is no longer stored. Must be called on the files' queue.
  func open(_ id: UInt64, _ file: RecordReader?) -> RecordReader? {
    guard let file else { return disk?.open(id) }
    disk?.use(id)
    return file
  }

  /// Deletes the file of a stored response. Must be called on the files' queue.
  func remove(_ file: RecordReader) { disk?.remove(file.id) }

  /// Reads the body of a stored response from its file. If the file is damaged, deletes the file and returns nil. Must be called on
  /// the files' queue.
  func contents(of file: RecordReader) -> Data? {
    guard let data = try? file.contents() else {
      remove(file)
      return nil
    }
    return data
  }

  /// Reads a stored response from its file, and also stores it in memory. If the file is damaged, deletes the file and returns nil.
  /// Must be called on the files' queue.
  func load(_ file: RecordReader, of key: CacheKey, for url: URL) -> CachedURLResponse? {
    guard let data = contents(of: file) else { return nil }
    let stored = file.response
    let cached = CachedURLResponse(response: HTTPURLResponse(url: url, stored), data: data)
    withExtendedLifetime(memory.restore(MemoryStore.Record(response: stored, content: cached), for: key)) {}
    return cached
  }

  // MARK: Changes

  /// Changes the responses in memory immediately, and the files after all earlier work on their queue. Until the files have been
  /// changed, no response that is read from a file is put into memory, because that would undo the change in memory.
  private func change(_ inMemory: () -> MemoryStore.Dropped, inFiles work: @escaping @Sendable () -> Void) {
    memory.beginChange()
    // The lock keeps the changes of several threads in the same order in memory and in the files.
    let dropped = changing.withLock { _ in
      let dropped = inMemory()
      onQueue {
        work()
        self.memory.endChange()
      }
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  /// Returns whether `response` replaces the stored response `old`, which isn't newer.
  private func isSuperseded(_ old: StoredResponse, by response: StoredResponse, to request: CacheRequest) -> Bool {
    old.isSuperseded(by: response, to: request) && !old.isNewer(than: response, now: now)
  }

  /// Returns whether a newer response to the request than `response` is in memory.
  func hasNewer(than response: StoredResponse, to request: CacheRequest) -> Bool {
    foundInMemory(request.uri.cacheKey).contains { found in
      found.response.isSuperseded(by: response, to: request) && found.response.isNewer(than: response, now: now)
    }
  }

  /// Stores a response in place of earlier responses to the same request. A response that belongs to only one session is stored in
  /// memory but not in a file.
  func store(_ content: CachedURLResponse, as response: StoredResponse, to request: CacheRequest) {
    let key = request.uri.cacheKey
    let insert = {
      self.stored.add(1, ordering: .releasing)
      return self.memory.insert(MemoryStore.Record(response: response, content: content), for: key) {
        self.isSuperseded($0, by: response, to: request)
      }
    }
    guard diskCapacity > 0, response.partition == .anonymous else { return withExtendedLifetime(insert()) {} }
    let isWritten = content.storagePolicy == .allowed && reserve(content.data.count, for: key)
    change(insert) {
      if isWritten {
        do throws(DiskStoreError) {
          try self.write(content.data, response, to: request)
        } catch {
          // The folder has been deleted. It is created again with the next use.
          if error.isMissingFile { self.diskState.withLock { $0.disk = .closed } }
          // Writing may fail because the disk is full. The response is then stored only in memory.
          self.removeFiles(supersededBy: response, to: request)
        }
        self.release(content.data.count, for: key)
      } else {
        self.removeFiles(supersededBy: response, to: request)
      }
    }
  }

  /// Removes the stored responses that `response` has made outdated. Called if `response` itself won't be stored.
  func removeOutdated(by response: StoredResponse, to request: CacheRequest) {
    removeOutdated(for: request) { old in
      old.isOutdated(by: response, to: request) && !old.isNewer(than: response, now: self.now)
    }
  }

  /// Removes the stored responses that a later response to `request` has made outdated. Called if HTTP's rules don't permit storing
  /// that response.
  func removeOutdated(byResponseTo request: CacheRequest) {
    removeOutdated(for: request) { $0.isOutdated(byResponseTo: request) }
  }

  private func removeOutdated(
    for request: CacheRequest, where isOutdated: @escaping @Sendable (StoredResponse) -> Bool
  ) {
    let key = request.uri.cacheKey
    let remove = { self.memory.update(key, where: isOutdated, { _ in nil }) }
    // The responses in files are anonymous, and an isolated request concerns none of them.
    guard diskCapacity > 0, !request.isIsolated else { return withExtendedLifetime(remove()) {} }
    // The files are removed after all earlier work on the queue, because an earlier response may not have been written yet.
    change(remove) { self.disk?.removeAll(for: key.text, where: isOutdated) }
  }

  /// Deletes the files of stored responses that `response` supersedes. Otherwise the cache would serve these files after `response`
  /// has been evicted from memory. Must be called on the files' queue.
  private func removeFiles(supersededBy response: StoredResponse, to request: CacheRequest) {
    disk?.removeAll(for: request.uri.cacheKey.text) { isSuperseded($0, by: response, to: request) }
  }

  /// Records that a response of `byteCount` bytes is about to be written. Returns false, without recording it, if too many bytes
  /// already wait to be written.
  private func reserve(_ byteCount: Int, for key: CacheKey) -> Bool {
    diskState.withLock { state in
      guard byteCount <= unwrittenBytesMax - state.unwrittenByteCount else { return false }
      state.unwrittenByteCount += byteCount
      state.unwritten[key, default: 0] += 1
      return true
    }
  }

  private func release(_ byteCount: Int, for key: CacheKey) {
    diskState.withLock { state in
      state.unwrittenByteCount -= byteCount
      state.unwritten[key] = state.unwritten[key].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  /// Writes a response to a file. A part is written together with the bytes of the parts in files that adjoin it, or by itself if
  /// these can't be read.
  private func write(_ data: Data, _ response: StoredResponse, to request: CacheRequest) throws(DiskStoreError) {
    guard let disk else { return }
    let record = disk.record(
      of: response, uri: request.uri.cacheKey.text, bodyBytesMax: UInt64(responseBytesMax))
    do throws(DiskStoreError) {
      try write(data, record, in: disk, to: request)
    } catch {
      guard record.isCombined else { throw error }
      try write(data, CombinedRecord(response), in: disk, to: request)
    }
  }

  private func write(
    _ data: Data, _ record: CombinedRecord, in disk: DiskStore, to request: CacheRequest
  ) throws(DiskStoreError) {
    let writer = try record.begin(in: disk, uri: request.uri.cacheKey.text, id: .random(in: .min ... .max))
    var rest = data[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(RecordFormat.blockByteCount))
      try writer.append(part.span)
      rest = rest.dropFirst(part.count)
    }
    try record.finish(writer) { isSuperseded($0, by: record.response, to: request) }
  }

  /// Updates the metadata of stored responses, for example after a 304 response. The index of each update refers to `found`, the
  /// result of an earlier lookup. A response that was replaced after the lookup isn't changed.
  func apply(_ updates: [StoredUpdate], to found: [FoundResponse], of key: CacheKey) {
    guard !updates.isEmpty else { return }
    let changes = updates.map {
      (old: found[$0.index].response, new: found[$0.index].response.changed(by: $0.change), change: $0.change)
    }
    let update = {
      changes.flatMap { old, new, _ in
        self.memory.update(key, where: { $0 == old }) { record in new.map { record.with($0) } }
      }
    }
    guard diskCapacity > 0 else { return withExtendedLifetime(update()) {} }
    change(update) {
      guard let disk = self.disk else { return }
      for (old, new, change) in changes where new != old {
        guard let new, new.partition == .anonymous else {
          disk.removeAll(for: key.text) { $0 == old }
          continue
        }
        var ids: [UInt64] = []
        disk.forEachRecord(of: key.text) { if $0.response == old { ids.append($0.id) } }
        // If the change can't be written, for example because the disk is full, a validated response keeps its old metadata and
        // will be validated again.
        for id in ids { try? disk.replace(id, with: new, newID: .random(in: .min ... .max)) }
        // A response that can't be marked as invalidated is removed, also if its file can't be opened.
        if change == .invalidate { disk.removeAll(for: key.text) { $0 == old } }
      }
    }
  }

  /// Removes the stored responses for a URI after a successful unsafe request. Responses to requests for the URI that have already
  /// been sent won't be stored.
  @discardableResult
  func invalidate(_ key: CacheKey) -> InvalidationLog.Entry {
    let entry = invalidations.add(key)
    removeAll(for: key)
    return entry
  }

  func removeAll(for key: CacheKey) {
    guard diskCapacity > 0 else { return withExtendedLifetime(memory.removeAll(for: key)) {} }
    change({ memory.removeAll(for: key) }, inFiles: { self.disk?.removeAll(for: key.text) })
  }

  /// Removes all responses from memory and from the folder, including those that other processes have stored in the folder.
  func removeAll() {
    change({ memory.removeAll { _ in true } }, inFiles: { try? self.disk?.removeAll() })
  }

  /// Removes the stored responses for which `isRemoved` returns true.
  func removeAll(where isRemoved: @escaping @Sendable (StoredResponse) -> Bool) {
    change({ memory.removeAll(where: isRemoved) }, inFiles: { self.disk?.removeAll(where: isRemoved) })
  }
}

extension StoredResponse {
  /// Returns this stored response with the change applied, or nil if the change removes the response.
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

extension MemoryStore.Record {
  /// Returns a copy of this record with the metadata, status code and fields of `response`. The body stays the same.
  fileprivate func with(_ response: StoredResponse) -> Self {
    let head = content.response.url.map { HTTPURLResponse(url: $0, response) }
    return Self(response: response, content: content.with(response: head))
  }
}
