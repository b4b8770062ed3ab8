// MemoryStore: stores responses with their bodies in memory.

package import LupineCache
internal import LupineWire
internal import Synchronization

/// A store of cached responses in memory, limited by a capacity in bytes. It is thread-safe.
package final class MemoryStore<Content: Sendable>: Sendable {
  /// A stored response with its body. The store's owner chooses the type of the body.
  package struct Record: Sendable {
    package let key: CacheKey
    /// The response's metadata, including the size of its body in bytes.
    package let response: StoredResponse
    package let content: Content

    package init(key: CacheKey, response: StoredResponse, content: Content) {
      self.key = key
      self.response = response
      self.content = content
    }

    /// The approximate memory that the record occupies, in bytes: the body, the fields, and a fixed amount for other data.
    var byteCount: Int {
      let fields = response.fields.reduce(key.byteCount) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      return Int(clamping: min(response.bodyByteCount, 1 << 62)) + fields + Self.overheadByteCount
    }

    private static var overheadByteCount: Int { 512 }
  }

  private struct State {
    var index: CacheIndex<CacheKey, Record>
    var lastID: UInt64 = 0
    /// The number of changes between `beginChange` and `endChange`, which the disk store hasn't completed yet.
    var unfinishedChangeCount = 0
  }

  private let state: Mutex<State>

  package init(capacity: Int) {
    state = Mutex(State(index: CacheIndex(capacity: capacity)))
  }

  package var capacity: Int {
    get { state.withLock { $0.index.capacity } }
    set { state.withLock { _ = $0.index.setCapacity(newValue) } }
  }

  /// The approximate memory that all records occupy, in bytes.
  package var byteCount: Int { state.withLock { $0.index.byteCount } }

  /// Returns the stored responses of a URI, in the order in which they were stored, with their identifiers.
  package func records(for key: CacheKey) -> [(id: UInt64, record: Record)] {
    state.withLock { $0.index.records(for: key) }
  }

  /// Returns whether a response of the URI is stored.
  package func hasRecords(for key: CacheKey) -> Bool {
    // Usually nothing is stored, so that the key needn't be hashed.
    state.withLock { $0.index.count > 0 && $0.index.hasRecords(for: key) }
  }

  /// Marks the stored response `id` as the most recently used one.
  package func use(_ id: UInt64) { state.withLock { _ = $0.index.use(id) } }

  /// Stores a response with its body, unless it is larger than the capacity.
  ///
  /// - Parameter isSuperseded: A closure that returns whether the new response replaces a stored response of the same URI.
  package func insert(_ record: Record, superseding isSuperseded: (StoredResponse) -> Bool) {
    state.withLock { state in
      for (id, old) in state.index.records(for: record.key) where isSuperseded(old.response) { state.index.remove(id) }
      state.lastID += 1
      _ = state.index.insert(record, id: state.lastID, for: record.key, byteCount: record.byteCount)
    }
  }

  /// Begins a change that is made first in this memory store and then in a disk store. Until `endChange` is called, the records on
  /// disk may be outdated, so `restore` does nothing.
  package func beginChange() { state.withLock { $0.unfinishedChangeCount += 1 } }

  /// Ends a change that `beginChange` began. Called after the change has been made in the disk store.
  package func endChange() {
    state.withLock { state in
      precondition(state.unfinishedChangeCount > 0, "a change ended twice")
      state.unfinishedChangeCount -= 1
    }
  }

  /// Stores a response that was read from the disk store. Does nothing while a change is in progress, or if `isPresent` returns
  /// true for a stored response of the same URI.
  package func restore(_ record: Record, unless isPresent: (StoredResponse) -> Bool) {
    state.withLock { state in
      guard state.unfinishedChangeCount == 0,
        !state.index.records(for: record.key).contains(where: { isPresent($0.record.response) })
      else { return }
      state.lastID += 1
      _ = state.index.insert(record, id: state.lastID, for: record.key, byteCount: record.byteCount)
    }
  }

  /// Changes the stored responses of a URI for which `isChanged` returns true. `change` returns the replacement of a stored
  /// response, or nil to remove it.
  package func update(
    _ key: CacheKey, where isChanged: (StoredResponse) -> Bool, _ change: (Record) -> Record?
  ) {
    state.withLock { state in
      for (id, old) in state.index.records(for: key) where isChanged(old.response) {
        guard let new = change(old) else {
          state.index.remove(id)
          continue
        }
        _ = state.index.insert(new, id: id, for: key, byteCount: new.byteCount)
      }
    }
  }

  package func removeAll(for key: CacheKey) { state.withLock { _ = $0.index.removeAll(for: key) } }

  /// Removes the stored responses for which `isRemoved` returns true.
  package func removeAll(where isRemoved: (StoredResponse) -> Bool) {
    state.withLock { _ = $0.index.removeAll { isRemoved($0.response) } }
  }
}
