// OpenConnections: the open connections of a shard, by ID.

/// The open connections of a shard.
struct OpenConnections {
  /// The connections that the pool manages.
  var pooled = ConnectionTable<Connection>()
  /// Connections that have switched to another protocol. They have left the pool, which reuses their slots.
  var upgraded: [ConnectionID: Connection] = [:]

  /// The open connection with this ID, in the pool or upgraded, or nil if there is none.
  subscript(id: ConnectionID) -> Connection? { pooled[id] ?? upgraded[id] }

  /// Removes all connections and returns them.
  mutating func removeAll() -> [Connection] {
    defer { self = OpenConnections() }
    return pooled.values + upgraded.values
  }
}
