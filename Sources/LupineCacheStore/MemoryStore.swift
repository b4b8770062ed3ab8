// MemoryStore: stores responses with their bodies in memory.

package import LupineCache
internal import LupineWire
internal import Synchronization

/// A store in memory, within a capacity. It is thread-safe.
package final class MemoryStore<Content: Sendable>: Sendable {
  /// A stored response with its body, whose type the store's owner chooses.
  package struct Record: Sendable {
    package let uri: String
    /// The metadata, with the size of the body.
    package let response: StoredResponse
    package let content: Content

    package init(uri: String, response: StoredResponse, content: Content) {
      self.uri = uri
      self.response = response
      self.content = content
    }

    /// The approximate memory that the record occupies, in bytes: the body, the fields and a fixed amount for the rest.
    var byteCount: Int {
      let fields = response.fields.reduce(uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
      return Int(clamping: min(response.bodyByteCount, 1 << 62)) + fields + Self.overheadByteCount
    }

    private static var overheadByteCount: Int { 512 }
  }

  private struct State {
    var index: CacheIndex<String, Record>
    var lastID: UInt64 = 0
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

  /// Returns the records of a URI, in the order in which they were stored.
  package func records(for uri: String) -> [(id: UInt64, record: Record)] {
    state.withLock { $0.index.records(for: uri) }
  }

  /// Marks a record as the most recently used one.
  package func use(_ id: UInt64) { state.withLock { _ = $0.index.use(id) } }

  /// Stores a record. A record that is larger than the capacity isn't stored.
  ///
  /// - Parameter isSuperseded: Returns whether a stored response of the same URI is replaced.
  package func insert(_ record: Record, superseding isSuperseded: (StoredResponse) -> Bool) {
    state.withLock { state in
      for (id, old) in state.index.records(for: record.uri) where isSuperseded(old.response) { state.index.remove(id) }
      state.lastID += 1
      _ = state.index.insert(record, id: state.lastID, for: record.uri, byteCount: record.byteCount)
    }
  }

  package func removeAll(for uri: String) { state.withLock { _ = $0.index.removeAll(for: uri) } }

  /// Removes the records whose responses fulfill the condition.
  package func removeAll(where isRemoved: (StoredResponse) -> Bool) {
    state.withLock { _ = $0.index.removeAll { isRemoved($0.response) } }
  }
}
