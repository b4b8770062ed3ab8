// RecencyList: a dictionary ordered by the last use of its values, with the sum of their sizes. Each operation takes constant
// time.

/// A dictionary that records the order in which its values were last used, so that the least recently used values can be evicted.
package struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Node: Sendable {
    let key: Key
    var value: Value
    var byteCount: Int
    /// The index in `nodes` of the node that was used just before this one, or nil if there is none.
    var older: Int?
    var newer: Int?
  }

  /// The nodes of the linked list. An element is nil if its index is unused.
  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var positions: [Key: Int] = [:]
  private var oldest: Int?
  private var newest: Int?
  /// The sum of the values' sizes in bytes.
  package private(set) var byteCount = 0

  package init() {}

  package var count: Int { positions.count }

  package var keys: some Collection<Key> { positions.keys }

  /// Returns the value for the key, without marking the value as used.
  package subscript(key: Key) -> Value? { positions[key].flatMap { nodes[$0]?.value } }

  /// The key of the least recently used value.
  package var oldestKey: Key? { oldest.flatMap { nodes[$0]?.key } }

  /// Returns the value for the key, and marks the value as the most recently used one.
  package mutating func use(_ key: Key) -> Value? {
    guard let position = positions[key] else { return nil }
    if position != newest {
      unlink(position)
      linkAsNewest(position)
    }
    return nodes[position]?.value
  }

  /// Inserts a value as the most recently used one. It replaces an earlier value for the key.
  package mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
    remove(key)
    let node = Node(key: key, value: value, byteCount: byteCount)
    let position: Int
    if let reused = free.popLast() {
      position = reused
      nodes[position] = node
    } else {
      position = nodes.count
      nodes.append(node)
    }
    positions[key] = position
    self.byteCount += byteCount
    linkAsNewest(position)
  }

  @discardableResult
  package mutating func remove(_ key: Key) -> Value? {
    guard let position = positions.removeValue(forKey: key), let node = nodes[position] else { return nil }
    unlink(position)
    nodes[position] = nil
    free.append(position)
    byteCount -= node.byteCount
    return node.value
  }

  private mutating func unlink(_ position: Int) {
    let (older, newer) = (nodes[position]?.older, nodes[position]?.newer)
    if let older { nodes[older]?.newer = newer } else { oldest = newer }
    if let newer { nodes[newer]?.older = older } else { newest = older }
  }

  private mutating func linkAsNewest(_ position: Int) {
    nodes[position]?.older = newest
    nodes[position]?.newer = nil
    if let newest { nodes[newest]?.newer = position } else { oldest = position }
    newest = position
  }
}
