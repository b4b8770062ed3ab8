// Openings: the connections that a shard is opening, by ID and by the tokens of their sockets.

/// The connections that a shard is opening, and the sockets that connect for them.
struct Openings {
  private var table = ConnectionTable<Opening>()
  /// The ID of the connection for which each socket is connecting, by the socket's poller token.
  private(set) var candidates: [UInt64: ConnectionID] = [:]
  private var tokenCount: UInt64 = 0

  var isEmpty: Bool { table.isEmpty }
  var count: Int { table.count }
  var values: [Opening] { table.values }

  /// The attempt to open the connection with this ID. Setting nil removes the attempt.
  subscript(id: ConnectionID) -> Opening? {
    get { table[id] }
    set { table[id] = newValue }
  }

  /// Returns the connection attempt to which the connecting socket with this poller token belongs. Returns nil if no attempt has
  /// such a socket.
  func opening(connecting token: UInt64) -> Opening? { candidates[token].flatMap { table[$0] } }

  /// Returns a new poller token for a connecting socket. The highest bit of the token distinguishes it from connection IDs.
  mutating func makeToken() -> UInt64 {
    tokenCount += 1
    return tokenCount | 1 << 63
  }

  mutating func add(_ token: UInt64, connectingFor id: ConnectionID) { candidates[token] = id }

  mutating func remove(_ token: UInt64) { candidates[token] = nil }

  mutating func removeAll() { self = Openings() }
}
