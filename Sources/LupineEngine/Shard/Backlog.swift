// Backlog: the work that a shard postpones, and the pool's actions that it hasn't executed.

internal import LupineReactor

/// The work that a shard has postponed to the end of the iteration or to the next iteration.
struct Backlog {
  /// Connections with more to read than one iteration has time for. Each occurs once.
  var postponed: [ConnectionID] = []
  /// Exchanges whose sinks are notified at the end of this iteration.
  var touched: [Exchange] = []
  /// Exchanges to send again in the next iteration, after its events.
  ///
  /// If a server is closing its connections, the events report the closed connections before the exchanges get one. Postponing
  /// also avoids deep recursion when thousands of connections have ended.
  var restarts: [Exchange] = []
  /// The commands to execute in this iteration.
  var commands: [ShardCommand] = []

  /// Whether there is no work for the next iteration.
  var isEmpty: Bool { postponed.isEmpty && restarts.isEmpty }
}

/// The state of executing the pool's decisions.
struct PoolWork {
  /// The actions that haven't been executed yet, with the error for exchanges that fail.
  var pendingActions: [(PoolState.Action, EngineError?)] = []
  var isPerforming = false
  /// The deadline that the loop has for the pool. It may be too early, but is never too late.
  var deadline: Instant?
}
