// DeadlineQueue: deadlines in order, as a binary heap whose entries can be changed and removed by key.

/// A priority queue of deadlines, with one deadline per key. Setting, changing and removing a deadline take O(log n).
///
/// The type is inlinable, so that the compiler specializes it for the engine's keys. It is public with `@_spi(Loop)`, because the
/// compiler doesn't specialize declarations with package access (Swift 6.3).
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

  /// The earliest deadline, or nil if the queue is empty.
  @inlinable public var earliest: Instant? { heap.first?.time }
  /// The number of deadlines.
  @inlinable public var count: Int { heap.count }

  /// Sets or changes the deadline of `key`. If `time` is nil, removes the deadline.
  @inlinable public mutating func set(_ key: Key, to time: Instant?) {
    guard let time else { return remove(key) }
    let entry = Entry(time: time, key: key)
    if let position = positions[key] {
      sift(entry, at: position, before: heap[position].time)
    } else {
      heap.append(entry)
      siftUp(entry, from: heap.count - 1)
    }
  }

  /// Removes the deadline of `key`, if there is one.
  @inlinable public mutating func remove(_ key: Key) {
    guard let position = positions.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard position < heap.count else { return }
    sift(last, at: position, before: heap[position].time)
  }

  /// Removes the earliest deadline and returns its key, if that deadline has passed at the time `now`. Returns nil if no deadline
  /// has passed.
  @inlinable public mutating func popExpired(now: Instant) -> Key? {
    guard let first = heap.first, first.time <= now else { return nil }
    remove(first.key)
    return first.key
  }

  /// Replaces the entry at `position` with `entry`, and moves `entry` to its position in the heap. `before` is the time of the
  /// replaced entry.
  @inlinable mutating func sift(_ entry: Entry, at position: Int, before: Instant) {
    if entry.time < before { siftUp(entry, from: position) } else { siftDown(entry, from: position) }
  }

  // Sifting moves the other entries and places the sifted entry once, which needs half the hashing of swapping entries.

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
