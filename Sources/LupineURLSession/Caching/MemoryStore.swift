// MemoryStore: stores responses with their bodies in memory.

import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// A store of cached responses in memory, limited by a capacity in bytes. It is thread-safe.
///
/// A method that changes the store returns the records that it has dropped. The caller must release them when it holds no lock,
/// because a record's `userInfo` contains objects of the program, whose deinitializers may use the cache.
final class MemoryStore: Sendable {
  typealias Dropped = [CacheIndex<CacheKey, Record>.Dropped]

  /// A stored response with its body.
  struct Record: Sendable {
    /// The response's metadata, including the size of its body in bytes.
    let response: StoredResponse
    let content: CachedURLResponse
  }

  /// The part of a record's size that doesn't depend on its content, in bytes: 512, an estimate.
  private static let overheadByteCount = 512

  private struct State: ~Copyable {
    var index: CacheIndex<CacheKey, Record>
    var lastID: UInt64 = 0
    /// The number of changes between `beginChange` and `endChange`, which the disk store hasn't completed yet.
    var unfinishedChangeCount = 0

    /// Inserts a record, with a new identifier unless it replaces the record `id`.
    mutating func insert(_ record: Record, for key: CacheKey, id: UInt64? = nil) -> Dropped {
      if id == nil { lastID += 1 }
      return index.insert(record, id: id ?? lastID, for: key, byteCount: MemoryStore.byteCount(of: record, for: key))
    }

    mutating func remove(_ records: Dropped) { for record in records { index.remove(record.id) } }
  }

  private let state: Mutex<State>

  init(capacity: Int) {
    state = Mutex(State(index: CacheIndex(capacity: capacity)))
  }

  /// The approximate memory that a record occupies, in bytes: the body, the fields, and a fixed amount for other data.
  private static func byteCount(of record: Record, for key: CacheKey) -> Int {
    let fields = record.response.fields.reduce(key.byteCount) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    return Int(clamping: min(record.response.bodyByteCount, 1 << 62)) + fields + overheadByteCount
  }

  var capacity: Int {
    get { state.withLock { $0.index.capacity } }
    set { withExtendedLifetime(state.withLock { $0.index.setCapacity(newValue) }) {} }
  }

  /// The approximate memory that all records occupy, in bytes.
  var byteCount: Int { state.withLock { $0.index.byteCount } }

  /// Returns the results of `transform` for the stored responses of a URI, in the order in which they were stored, with their
  /// identifiers.
  func records<Result: Sendable>(
    for key: @autoclosure () -> CacheKey, _ transform: (_ id: UInt64, Record) -> Result
  ) -> [Result] {
    // Usually nothing is stored, so that the key needn't be created and hashed.
    state.withLock { $0.index.count > 0 ? $0.index.records(for: key(), transform) : [] }
  }

  /// Returns whether a response of the URI is stored.
  func hasRecords(for key: @autoclosure () -> CacheKey) -> Bool {
    // Usually nothing is stored, so that the key needn't be created and hashed.
    state.withLock { $0.index.count > 0 && $0.index.hasRecords(for: key()) }
  }

  /// Marks the stored response `id` as the most recently used one.
  func use(_ id: UInt64) { state.withLock { _ = $0.index.use(id) } }

  /// Stores a response with its body, unless it is larger than the capacity.
  ///
  /// - Parameter isSuperseded: A closure that returns whether the new response replaces a stored response of the same URI.
  func insert(_ record: Record, for key: CacheKey, superseding isSuperseded: (StoredResponse) -> Bool) -> Dropped {
    state.withLock { state in
      let superseded = state.index.records(for: key).filter { isSuperseded($0.record.response) }
      state.remove(superseded)
      return superseded + state.insert(record, for: key)
    }
  }

  /// Begins a change that is made first in this memory store and then in a disk store. Until `endChange` is called, the records on
  /// disk may be outdated, so `restore` does nothing.
  func beginChange() { state.withLock { $0.unfinishedChangeCount += 1 } }

  /// Ends a change that `beginChange` began. Called after the change has been made in the disk store.
  func endChange() {
    state.withLock { state in
      precondition(state.unfinishedChangeCount > 0, "a change ended twice")
      state.unfinishedChangeCount -= 1
    }
  }

  /// Stores a response that was read from the disk store, in place of its older versions. Does nothing while a change is in
  /// progress, or if the same version or a newer one is stored.
  func restore(_ record: Record, for key: CacheKey) -> Dropped {
    state.withLock { state in
      let versions = state.index.records(for: key).filter { $0.record.response.isVersion(of: record.response) }
      guard state.unfinishedChangeCount == 0,
        versions.allSatisfy({ $0.record.response.isPreceded(by: record.response) })
      else { return [] }
      state.remove(versions)
      return versions + state.insert(record, for: key)
    }
  }

  /// Changes the stored responses of a URI for which `isChanged` returns true. `change` returns the replacement of a stored
  /// response, or nil to remove it.
  func update(_ key: CacheKey, where isChanged: (StoredResponse) -> Bool, _ change: (Record) -> Record?) -> Dropped {
    state.withLock { state in
      let changed = state.index.records(for: key).filter { isChanged($0.record.response) }
      state.remove(changed)
      return changed.reduce(into: changed) { dropped, old in
        if let new = change(old.record) { dropped += state.insert(new, for: key, id: old.id) }
      }
    }
  }

  func removeAll(for key: CacheKey) -> Dropped { state.withLock { $0.index.removeAll(for: key) } }

  /// Removes the stored responses for which `isRemoved` returns true.
  func removeAll(where isRemoved: (StoredResponse) -> Bool) -> Dropped {
    state.withLock { $0.index.removeAll { isRemoved($0.response) } }
  }
}
