// Slots in the order of a rank that may change: a binary heap that knows where each slot stands.

/// Holds a rank for some slots; set, moved and removed in O(log n).
struct RankedSlots: Sendable {
  private struct Entry: Sendable {
    var rank: UInt64
    let slot: Int
  }

  private var heap: [Entry] = []
  /// Where in the heap a slot stands, by the slot; -1 for those that have no rank.
  private var positions: [Int] = []

  /// The slot of the lowest rank.
  var first: Int? { heap.first?.slot }
  /// The lowest rank.
  var lowest: UInt64? { heap.first?.rank }
  var isEmpty: Bool { heap.isEmpty }

  /// Gives a slot a rank, or another one; nil takes it away.
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

  // Returns where the entry has come to.
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
