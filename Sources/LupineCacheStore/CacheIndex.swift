// CacheIndex: the records of a store by URI, limited by a capacity. It performs no I/O: it returns the records that the store
// must delete.

// Inlinable for the same reason as RecencyList.
/// The index of a cache store. Each record has an identifier, and is found by the key of its URI. If the records exceed the store's
/// capacity, the least recently used records are evicted.
@usableFromInline package struct CacheIndex<Key: Hashable & Sendable, Record: Sendable>: Sendable {
  /// The maximum number of stored responses per URI: 32. Beyond this limit, the least recently stored response of the URI is
  /// removed.
  ///
  /// RFC 9111 sets no limit. A lookup examines all responses of the URI, so this limits its time.
  @inlinable package static var responsesPerURIMax: Int { 32 }

  /// A record that was removed from the index, and that the store must delete.
  @usableFromInline package typealias Dropped = (id: UInt64, record: Record)

  /// A record with its key. An object, so that a lookup doesn't copy either.
  @usableFromInline final class Entry: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let record: Record

    @inlinable init(_ key: Key, _ record: Record) {
      self.key = key
      self.record = record
    }
  }

  @usableFromInline var entries = RecencyList<UInt64, Entry>()
  /// The identifiers of each key's records, in the order of insertion.
  @usableFromInline var identifiers: [Key: [UInt64]] = [:]
  /// The capacity of the store: the maximum sum of the records' sizes in bytes.
  @usableFromInline package private(set) var capacity: Int

  @inlinable package init(capacity: Int) { self.capacity = max(0, capacity) }

  @inlinable package var byteCount: Int { entries.byteCount }
  @inlinable package var count: Int { entries.count }
  @inlinable package var ids: [UInt64] { Array(entries.keys) }

  /// Returns the record with this identifier, without marking it as used.
  @inlinable package subscript(id: UInt64) -> Record? { entries[id]?.record }

  /// Returns the records of a key, in the order of insertion, without marking them as used.
  @inlinable package func records(for key: Key) -> [(id: UInt64, record: Record)] {
    records(for: key) { (id: $0, record: $1) }
  }

  /// Returns the results of `transform` for the records of a key, like `records(for:)`.
  @inlinable package func records<Result>(for key: Key, _ transform: (UInt64, Record) -> Result) -> [Result] {
    guard let ids = identifiers[key] else { return [] }
    return ids.compactMap { id in entries[id].map { transform(id, $0.record) } }
  }

  @inlinable package func hasRecords(for key: Key) -> Bool { identifiers[key] != nil }

  /// Returns the record with this identifier, and marks it as the most recently used one.
  @inlinable package mutating func use(_ id: UInt64) -> Record? { entries.use(id)?.record }

  /// Inserts a record as the most recently used one. It replaces an earlier record with the same identifier.
  ///
  /// Returns the records that were removed to make room. If the new record is larger than the capacity, it isn't inserted, and the
  /// result contains only the new record.
  @inlinable package mutating func insert(_ record: Record, id: UInt64, for key: Key, byteCount: Int) -> [Dropped] {
    guard byteCount <= capacity else { return [(id, record)] }
    remove(id)
    var dropped: [Dropped] = []
    if let oldest = identifiers[key], oldest.count >= Self.responsesPerURIMax, let more = remove(oldest[0]) {
      dropped.append(more)
    }
    // The other records are evicted first, so that the sum of the sizes never exceeds the capacity, which may be the largest Int.
    dropped += evict(downTo: capacity - byteCount)
    entries.insert(Entry(key, record), for: id, byteCount: byteCount)
    identifiers[key, default: []].append(id)
    return dropped
  }

  /// Changes the capacity in bytes. Returns the records that were removed because they no longer fit.
  @inlinable package mutating func setCapacity(_ capacity: Int) -> [Dropped] {
    self.capacity = max(0, capacity)
    return evict(downTo: self.capacity)
  }

  @inlinable @discardableResult
  package mutating func remove(_ id: UInt64) -> Dropped? {
    guard let entry = entries.remove(id) else { return nil }
    identifiers[entry.key]?.removeAll { $0 == id }
    if identifiers[entry.key]?.isEmpty == true { identifiers[entry.key] = nil }
    return (id, entry.record)
  }

  @inlinable package mutating func removeAll(for key: Key) -> [Dropped] {
    (identifiers[key] ?? []).compactMap { remove($0) }
  }

  /// Removes the records for which `isRemoved` returns true, and returns them.
  @inlinable package mutating func removeAll(where isRemoved: (Record) -> Bool) -> [Dropped] {
    ids.filter { id in entries[id].map { isRemoved($0.record) } ?? false }.compactMap { remove($0) }
  }

  /// Removes the least recently used records until the sum of the sizes is at most `byteCountMax`.
  @inlinable mutating func evict(downTo byteCountMax: Int) -> [Dropped] {
    var dropped: [Dropped] = []
    while entries.byteCount > byteCountMax, let oldest = entries.oldestKey, let evicted = remove(oldest) {
      dropped.append(evicted)
    }
    return dropped
  }
}
