// RankedQueue and DeadlineQueue: keys in the order of their ranks, as a binary heap whose entries can be changed and removed by key.

/// A priority queue of keys, each with one rank. Setting, changing and removing a rank take O(log n).
///
/// The type is inlinable, so that the compiler specializes it for the engine's keys. It is public with `@_spi(Loop)`, because the
/// compiler doesn't specialize declarations with package access (Swift 6.3).
@_spi(Loop) public struct RankedQueue<Key: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
  @usableFromInline struct Entry: Sendable {
    @usableFromInline var rank: Rank
    @usableFromInline let key: Key

    @inlinable init(rank: Rank, key: Key) {
      self.rank = rank
      self.key = key
    }
  }

  @usableFromInline var heap: [Entry] = []
  @usableFromInline var positions: [Key: Int] = [:]

  /// Creates an empty queue.
  @inlinable public init() {}

  /// The key with the lowest rank, or nil if the queue is empty.
  @inlinable public var first: Key? { heap.first?.key }
  /// The lowest rank, or nil if the queue is empty.
  @inlinable public var lowest: Rank? { heap.first?.rank }
  /// The number of keys.
  @inlinable public var count: Int { heap.count }
  /// Whether there are no keys.
  @inlinable public var isEmpty: Bool { heap.isEmpty }

  /// Sets or changes the rank of `key`. If `rank` is nil, removes the key.
  @inlinable public mutating func set(_ key: Key, to rank: Rank?) {
    guard let rank else { return remove(key) }
    let entry = Entry(rank: rank, key: key)
    if let position = positions[key] {
      sift(entry, at: position, before: heap[position].rank)
    } else {
      heap.append(entry)
      siftUp(entry, from: heap.count - 1)
    }
  }

  /// Removes `key`, if the queue contains it.
  @inlinable public mutating func remove(_ key: Key) {
    guard !heap.isEmpty, let position = positions.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard position < heap.count else { return }
    sift(last, at: position, before: heap[position].rank)
  }

  /// Replaces the entry at `position` with `entry`, and moves `entry` to its position in the heap. `before` is the rank of the
  /// replaced entry.
  @inlinable mutating func sift(_ entry: Entry, at position: Int, before: Rank) {
    if entry.rank < before { siftUp(entry, from: position) } else { siftDown(entry, from: position) }
  }

  // Sifting moves the other entries and places the sifted entry once, which needs half the hashing of swapping entries.

  @inlinable mutating func siftUp(_ entry: Entry, from start: Int) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard entry.rank < heap[parent].rank else { break }
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
      if child + 1 < heap.count, heap[child + 1].rank < heap[child].rank { child += 1 }
      guard heap[child].rank < entry.rank else { break }
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

/// A queue of deadlines, one per key.
@_spi(Loop) public typealias DeadlineQueue<Key: Hashable & Sendable> = RankedQueue<Key, Instant>

@_spi(Loop) extension RankedQueue where Rank == Instant {
  /// The earliest deadline, or nil if the queue is empty.
  @inlinable public var earliest: Instant? { lowest }

  /// Removes the earliest deadline and returns its key, if that deadline has passed at the time `now`. Returns nil if no deadline
  /// has passed.
  @inlinable public mutating func popExpired(now: Instant) -> Key? {
    guard let first = heap.first, first.rank <= now else { return nil }
    remove(first.key)
    return first.key
  }
}
