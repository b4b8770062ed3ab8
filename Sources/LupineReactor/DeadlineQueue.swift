// Deadlines in order: a binary heap whose entries can be moved and removed by their key.

/// Holds one deadline for each key; set, moved and removed in O(log n).
///
/// Inlinable, so that the compiler makes it for the engine's keys, and public for those who ask for it by `@_spi(Loop)`,
/// since the compiler doesn't do that with what has package access (Swift 6.3).
@_spi(Loop) public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  @usableFromInline struct Entry: Sendable {
    @usableFromInline var time: Instant
    @usableFromInline let key: Key

    @inlinable init(time: Instant, key: Key) {
      self.time = time
      self.key = key
    }
  }

  @usableFromInline var heap: [Entry] = []
  @usableFromInline var positions: [Key: Int] = [:]

  /// Creates an empty queue.
  @inlinable public init() {}

  /// The earliest deadline, or nil.
  @inlinable public var earliest: Instant? { heap.first?.time }
  /// How many deadlines are set.
  @inlinable public var count: Int { heap.count }

  /// Sets or moves a key's deadline; nil removes it.
  @inlinable public mutating func set(_ key: Key, to time: Instant?) {
    guard let time else { return remove(key) }
    let entry = Entry(time: time, key: key)
    if let position = positions[key] {
      settle(entry, at: position, before: heap[position].time)
    } else {
      heap.append(entry)
      siftUp(entry, from: heap.count - 1)
    }
  }

  /// Removes a key's deadline, if it has one.
  @inlinable public mutating func remove(_ key: Key) {
    guard let position = positions.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard position < heap.count else { return }
    settle(last, at: position, before: heap[position].time)
  }

  /// Removes and returns a key whose deadline has passed, the earliest first; nil if there is none.
  @inlinable public mutating func popExpired(now: Instant) -> Key? {
    guard let first = heap.first, first.time <= now else { return nil }
    remove(first.key)
    return first.key
  }

  /// Puts an entry where one with the time `before` stood.
  @inlinable mutating func settle(_ entry: Entry, at position: Int, before: Instant) {
    if entry.time < before { siftUp(entry, from: position) } else { siftDown(entry, from: position) }
  }

  // What has to make room is moved, and the entry placed once, which costs half the hashing of exchanging the two.

  @inlinable mutating func siftUp(_ entry: Entry, from start: Int) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard entry.time < heap[parent].time else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(entry, at: position)
  }

  @inlinable mutating func siftDown(_ entry: Entry, from start: Int) {
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
      guard heap[child].time < entry.time else { break }
      place(heap[child], at: position)
      position = child
    }
    place(entry, at: position)
  }

  @inlinable mutating func place(_ entry: Entry, at position: Int) {
    heap[position] = entry
    positions[entry.key] = position
  }
}
