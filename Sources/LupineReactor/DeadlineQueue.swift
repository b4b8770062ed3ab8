// Deadlines in order: a binary heap whose entries can be moved and removed by their key.

/// Holds one deadline for each key; set, moved and removed in O(log n).
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var time: Instant
    let key: Key
  }

  private var heap: [Entry] = []
  private var positions: [Key: Int] = [:]

  /// Creates an empty queue.
  package init() {}

  /// The earliest deadline, or nil.
  package var earliest: Instant? { heap.first?.time }
  /// How many deadlines are set.
  package var count: Int { heap.count }

  /// Sets or moves a key's deadline; nil removes it.
  package mutating func set(_ key: Key, to time: Instant?) {
    guard let time else { return remove(key) }
    if let position = positions[key] {
      let before = heap[position].time
      heap[position].time = time
      if time < before { siftUp(position) } else { siftDown(position) }
    } else {
      heap.append(Entry(time: time, key: key))
      positions[key] = heap.count - 1
      siftUp(heap.count - 1)
    }
  }

  /// Removes a key's deadline, if it has one.
  package mutating func remove(_ key: Key) {
    guard let position = positions.removeValue(forKey: key) else { return }
    let last = heap.removeLast()
    guard position < heap.count else { return }
    heap[position] = last
    positions[last.key] = position
    siftUp(position)
    siftDown(positions[last.key] ?? position)
  }

  /// Removes and returns a key whose deadline has passed, the earliest first; nil if there is none.
  package mutating func popExpired(now: Instant) -> Key? {
    guard let first = heap.first, first.time <= now else { return nil }
    remove(first.key)
    return first.key
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].time < heap[parent].time else { return }
      exchange(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].time < heap[least].time {
        least = child
      }
      guard least != parent else { return }
      exchange(parent, least)
      parent = least
    }
  }

  private mutating func exchange(_ first: Int, _ second: Int) {
    heap.swapAt(first, second)
    positions[heap[first].key] = first
    positions[heap[second].key] = second
  }
}
