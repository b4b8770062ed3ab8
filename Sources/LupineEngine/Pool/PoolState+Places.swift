// PoolState+Places: decides which waiter may open a connection when a limit of connections is reached or descriptors are short.
// Waiters of all origins are served by priority, and in order of arrival if the priorities are equal.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension PoolState {
  /// Opens connections for waiters as far as the limits permit, and removes the records of unused origins. Called at the end of
  /// each event that the pool handles.
  mutating func assignPlaces(_ actions: inout [Action]) {
    while let origin = awaitingPlace.first {
      if hasPlace { actions.append(open(origin)) } else if !makeRoom(&actions) { break }
    }
    forgetUnused()
  }

  /// The reason that the pool gives when it closes a connection to make room: its limit on all connections is reached, or another
  /// connection needs the descriptor.
  var reasonToMakeRoom: CloseReason {
    connectionCount >= limits.connectionsMax ? .totalLimit : .descriptorsNeeded
  }

  private var hasPlace: Bool {
    guard connectionCount < limits.connectionsMax else { return false }
    return shortage.map { $0.permits > 0 } ?? true
  }

  // Closes the connection that is needed least: the one that has been idle longest or, if none is idle, one being opened
  // without a waiter. Returns false if there is neither.
  private mutating func makeRoom(_ actions: inout [Action]) -> Bool {
    if let oldest = idle.first {
      closeConnection(oldest, reasonToMakeRoom, &actions)
    } else if let origin = orphaned.first, let orphan = origins[origin].orphans.first {
      abandon(orphan, &actions)
      reclassify(origin)
    } else {
      return false
    }
    return true
  }

  // MARK: Descriptors

  /// Pauses the opening of connections after one couldn't be opened for lack of a descriptor. If connections that were already
  /// being opened fail too, this doesn't start another pause.
  mutating func pauseOpening(_ now: Instant) {
    guard waiters.count > 0, shortage?.retry == nil else { return }
    let before = shortage?.pause ?? .zero
    // If there is a connection to close, closing it ends this pause immediately, so the pause isn't lengthened.
    let wanted = idle.isEmpty && orphaned.isEmpty ? min(before * 2, PoolLimits.descriptorRetryMax) : before
    let pause = max(wanted, PoolLimits.descriptorRetryMin)
    shortage = DescriptorShortage(permits: 0, retry: now + pause, pause: pause)
  }

  /// Permits the pool to open one more connection, because a descriptor is probably free.
  mutating func permitOpening() {
    shortage?.permits += 1
    shortage?.retry = nil
  }

  /// Relaxes the limit on opening connections after a connection has obtained a descriptor. As long as waiters need connections,
  /// each such success permits two further ones.
  mutating func easeShortage() {
    guard shortage?.retry == nil else { return }
    if awaitingPlace.isEmpty {
      shortage = nil
    } else {
      shortage?.permits += 2
      shortage?.pause = .zero
    }
  }
}
