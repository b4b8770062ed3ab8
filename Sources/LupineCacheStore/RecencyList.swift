// RecencyList: a dictionary ordered by the last use of its values, with the sum of their sizes. Each operation takes constant
// time.

// Usable from inlined code, because otherwise other modules would run unspecialized code, which looks up metadata in each call.
/// A dictionary that records the order in which its values were last used, so that the least recently used values can be evicted.
@usableFromInline package struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline struct Node: Sendable {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var byteCount: Int
    /// The index in `nodes` of the node that was used just before this one, or nil if there is none.
    @usableFromInline var older: Int?
    @usableFromInline var newer: Int?

    @inlinable init(_ key: Key, _ value: Value, _ byteCount: Int) {
      self.key = key
      self.value = value
      self.byteCount = byteCount
    }
  }

  /// The nodes of the linked list. An element is nil if its index is unused.
  @usableFromInline var nodes: [Node?] = []
  @usableFromInline var free: [Int] = []
  @usableFromInline var positions: [Key: Int] = [:]
  @usableFromInline var oldest: Int?
  @usableFromInline var newest: Int?
  /// The sum of the values' sizes in bytes.
  @usableFromInline package private(set) var byteCount = 0

  @inlinable package init() {}

  @inlinable package var count: Int { positions.count }

  @inlinable package var keys: some Collection<Key> { positions.keys }

  /// Returns the value for the key, without marking the value as used.
  @inlinable package subscript(key: Key) -> Value? { positions[key].flatMap { nodes[$0]?.value } }

  /// The key of the least recently used value.
  @inlinable package var oldestKey: Key? { oldest.flatMap { nodes[$0]?.key } }

  /// Returns the value for the key, and marks the value as the most recently used one.
  @inlinable package mutating func use(_ key: Key) -> Value? {
    guard let position = positions[key] else { return nil }
    if position != newest {
      unlink(position)
      linkAsNewest(position)
    }
    return nodes[position]?.value
  }

  /// Inserts a value as the most recently used one. It replaces an earlier value for the key.
  @inlinable package mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
    remove(key)
    let node = Node(key, value, byteCount)
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

  @inlinable @discardableResult
  package mutating func remove(_ key: Key) -> Value? {
    guard let position = positions.removeValue(forKey: key), let node = nodes[position] else { return nil }
    unlink(position)
    nodes[position] = nil
    free.append(position)
    byteCount -= node.byteCount
    return node.value
  }

  @inlinable mutating func unlink(_ position: Int) {
    let (older, newer) = (nodes[position]?.older, nodes[position]?.newer)
    if let older { nodes[older]?.newer = newer } else { oldest = newer }
    if let newer { nodes[newer]?.older = older } else { newest = older }
  }

  @inlinable mutating func linkAsNewest(_ position: Int) {
    nodes[position]?.older = newest
    nodes[position]?.newer = nil
    if let newest { nodes[newest]?.newer = position } else { oldest = position }
    newest = position
  }
}
