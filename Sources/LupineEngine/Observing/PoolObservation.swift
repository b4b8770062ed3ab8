// PoolObservation: reports the numbers of a pool's connections and waiters to the engine's observer.

internal import LupineReactor
internal import LupineWire

/// The observation of a shard's pool, if the engine's observer wants it. Used only on the shard's thread.
final class PoolObservation {
  private let observer: any EngineObserver
  /// The latest reported numbers of each origin that has any connections or waiters, by its slot in the pool.
  @exclusivity(unchecked) private var reported: [Int: (origin: Origin, numbers: ConnectionNumbers)] = [:]

  /// Creates an observation, or returns nil if the observer doesn't want one.
  init?(_ observer: (any EngineObserver)?) {
    guard let observer, observer.observesConnections else { return nil }
    self.observer = observer
  }

  /// Reports the changes of the pool since the last call.
  func report(_ pool: inout PoolState) {
    for slot in pool.takeChangedOrigins() {
      let old = reported[slot]
      guard let origin = pool.origin(at: slot) ?? old?.origin else { continue }
      let numbers = pool.numbers(at: slot)
      let change = numbers - (old?.numbers ?? ConnectionNumbers())
      reported[slot] = numbers == ConnectionNumbers() ? nil : (origin, numbers)
      if change != ConnectionNumbers() { observer.connectionsChanged(to: origin, by: change) }
    }
  }

  /// Reports a connection that was closed.
  func closed(_ connection: Connection, now: Instant) {
    guard !connection.key.isStream, let opened = connection.record.opening.connectEnd else { return }
    observer.connectionClosed(
      to: connection.key.origin, peer: connection.record.remoteAddress, after: now - opened)
  }

  /// Reports that no connection or waiter is left, because the shard has stopped.
  func end() {
    for (origin, numbers) in reported.values {
      observer.connectionsChanged(to: origin, by: ConnectionNumbers() - numbers)
    }
    reported = [:]
  }
}

extension PoolState {
  /// Returns the slots of the origins whose numbers may have changed since the last call. A slot may occur several times.
  fileprivate mutating func takeChangedOrigins() -> [Int] {
    guard let changed = changedOrigins, !changed.isEmpty else { return [] }
    changedOrigins = []
    return changed
  }

  /// Returns the origin in this slot. Returns nil if the pool has forgotten the origin, or if its connections carry raw streams.
  fileprivate func origin(at slot: Int) -> Origin? {
    guard let key = origins[slot].key, !key.isStream else { return nil }
    return key.origin
  }

  fileprivate func numbers(at slot: Int) -> ConnectionNumbers {
    let record = origins[slot]
    let (idle, opening) = (record.idle.count, record.counters.opening)
    var numbers = ConnectionNumbers()
    numbers.idle = idle
    numbers.active = record.connectionCount - idle - opening
    numbers.opening = opening
    numbers.waiting = record.queue.count
    return numbers
  }
}
