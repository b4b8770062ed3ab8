// RankedSlots: a priority queue of slots, as a binary heap in which a slot's rank can be changed.

/// A priority queue of slots, which are small numbers, each with one rank. Setting, changing and removing a rank take O(log n).
struct RankedSlots: Sendable {
  private struct Entry: Sendable {
    var rank: UInt64
    let slot: Int
  }

  private var heap: [Entry] = []
  /// The position of each slot in the heap, or -1 if the slot has no rank.
  private var positions: [Int] = []

  /// The slot with the lowest rank, or nil if the queue is empty.
  var first: Int? { heap.first?.slot }
  /// The lowest rank, or nil if the queue is empty.
  var lowest: UInt64? { heap.first?.rank }
  var isEmpty: Bool { heap.isEmpty }

  /// Sets or changes the rank of a slot. If `rank` is nil, removes the slot from the queue.
  mutating func set(_ slot: Int, to rank: UInt64?) {
    guard let rank else { return remove(slot) }
    while positions.count <= slot { positions.append(-1) }
    if positions[slot] < 0 {
      heap.append(Entry(rank: rank, slot: slot))
      positions[slot] = heap.count - 1
    } else {
      heap[positions[slot]].rank = rank
    }
    siftDown(siftUp(positions[slot]))
  }

  private mutating func remove(_ slot: Int) {
    guard slot < positions.count, positions[slot] >= 0 else { return }
    let position = positions[slot]
    positions[slot] = -1
    let last = heap.removeLast()
    guard position < heap.count else { return }
    heap[position] = last
    positions[last.slot] = position
    siftDown(siftUp(position))
  }

  // Returns the entry's new position.
  private mutating func siftUp(_ start: Int) -> Int {
    var child = start
    while child > 0, heap[child].rank < heap[(child - 1) / 2].rank {
      exchange(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return child
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].rank < heap[least].rank {
        least = child
      }
      guard least != parent else { return }
      exchange(parent, least)
      parent = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    positions[heap[one].slot] = one
    positions[heap[other].slot] = other
  }
}
