// Backlog: the work that a shard postpones, and the pool's actions that it hasn't executed.

internal import LupineReactor

/// The work that a shard has postponed to the end of this iteration of its loop or to the next iteration.
struct Backlog {
  /// Connections that have more data to read than this iteration has time for. The next iteration reads from them. No connection
  /// occurs twice.
  var postponed: [ConnectionID] = []
  /// Exchanges whose sinks receive `turnEnded` at the end of this iteration.
  var touched: [Exchange] = []
  /// Exchanges whose requests the shard sends again in the next iteration, after it has processed that iteration's events.
  ///
  /// If a server is closing its connections, the events report the closed connections before an exchange is given one of them.
  /// Postponing also avoids deep recursion when thousands of connections have ended.
  var restarts: [Exchange] = []
  /// Connections that the shard begins to open in the next iterations, because this one has reached
  /// `PoolLimits.openingsPerIterationMax`. They count as being opened already. A slice, from which
  /// the first element is removed in constant time.
  var openings: ArraySlice<ConnectionID> = []
  /// The number of connections that this iteration may still begin to open.
  var openingsLeft = Int.max
  /// The commands of other threads that the shard executes in this iteration.
  var commands: [ShardCommand] = []

  /// Whether no work is postponed to the next iteration.
  var isEmpty: Bool { postponed.isEmpty && restarts.isEmpty && openings.isEmpty }
}

/// The pool's decisions that the shard hasn't executed yet.
struct PoolWork {
  /// The pool's actions that the shard hasn't executed yet. Each `.fail` action comes with the error with which it ends an
  /// exchange.
  var pendingActions: [(PoolState.Action, EngineError?)] = []
  var isPerforming = false
  /// The deadline that is registered with the event loop for the pool, or nil if none is registered. It may be earlier than the
  /// pool's actual deadline, but never later.
  var deadline: Instant?
}
