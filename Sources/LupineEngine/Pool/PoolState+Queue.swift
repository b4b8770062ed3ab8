// PoolState+Queue: the queues of waiters, and the connections being opened for the first waiters of each queue.

@_spi(Loop) internal import LupineReactor
internal import LupineWire

extension PoolState {
  /// Adds an exchange to its origin's queue. If the exchange takes over the connection that is being opened for an exchange with
  /// lower priority, appends a `.wait` action for the latter.
  mutating func enqueue(
    _ exchange: ExchangeID, _ priority: ExchangePriority, at origin: Int, _ actions: inout [Action]
  ) -> Ticket {
    lastWaiter += 1
    let rank = Waiter.rank(priority, arrival: lastWaiter)
    let waiter = waiters.insert(Waiter(serial: rank, exchange: exchange, origin: origin))
    noteChange(of: origin)
    if let displaced = insert(waiter, priority, at: origin) { actions.append(.wait(displaced)) }
    return Ticket(serial: rank, slot: waiter)
  }

  /// Removes a waiter from its queue and returns its exchange. If a connection is being opened for the waiter, the connection
  /// passes to the first waiter for which none is being opened, or becomes an orphan.
  mutating func dequeue(_ waiter: Int) -> ExchangeID {
    let (exchange, origin, opening) = (waiters[waiter].exchange, waiters[waiter].origin, waiters[waiter].opening)
    if origins[origin].firstWithoutOpening == waiter {
      origins[origin].firstWithoutOpening = queueLinks.next(after: waiter)
    }
    if !origins[origin].tails.isEmpty { dropTail(waiter, at: origin) }
    queueLinks.remove(waiter, from: &origins[origin].queue)
    noteChange(of: origin)
    waiters.remove(waiter, leaving: Waiter())
    if let opening {
      connections[opening].state = .opening(for: nil)
      if let next = origins[origin].firstWithoutOpening {
        assign(opening, to: next)
        noteReassignment(of: opening)
      } else {
        originLinks.append(opening, to: &origins[origin].orphans)
      }
    }
    if waiters.count == 0 { shortage = nil }
    return exchange
  }

  /// Passes the connection that is being opened for one waiter to another.
  mutating func pass(_ opening: Int, from waiter: Int, to other: Int) {
    waiters[waiter].opening = nil
    waiters[other].opening = opening
    connections[opening].state = .opening(for: other)
    noteReassignment(of: opening)
  }

  /// Assigns a connection that is being opened to `waiter`, which must be the first waiter for which none is being opened.
  mutating func assign(_ opening: Int, to waiter: Int) {
    waiters[waiter].opening = opening
    connections[opening].state = .opening(for: waiter)
    origins[waiters[waiter].origin].firstWithoutOpening = queueLinks.next(after: waiter)
  }

  /// Swaps the connections of two waiters: `waiter`, whose connection is now open, and the first waiter of the queue. `waiter`
  /// takes over the connection that is being opened for the first waiter. The caller then gives the open connection to the first
  /// waiter.
  mutating func giveOpeningOfFirst(to waiter: Int) {
    guard let first = origins[waiters[waiter].origin].queue.first else { preconditionFailure("a waiter isn't queued") }
    // If `waiter` is the first waiter, no other connection is being opened for it now.
    waiters[waiter].opening = nil
    if let opening = waiters[first].opening { pass(opening, from: first, to: waiter) }
  }

  /// Updates the queue after a connection couldn't be opened for `waiter`, which stays in the queue. Connections may be in the
  /// process of opening only for the first waiters of the queue, so the last of these passes its connection to `waiter`. Returns
  /// the exchange of that last waiter.
  mutating func withdrawOpening(from waiter: Int) -> ExchangeID {
    let origin = waiters[waiter].origin
    let first = origins[origin].firstWithoutOpening
    guard let last = first.map({ queueLinks.previous(before: $0) }) ?? origins[origin].queue.last else {
      preconditionFailure("a waiter isn't queued")
    }
    if last != waiter, let opening = waiters[last].opening { pass(opening, from: last, to: waiter) }
    origins[origin].firstWithoutOpening = last
    return waiters[last].exchange
  }

  // MARK: Origins

  /// Creates an origin record for a pool key that has none, and returns the record's index.
  mutating func remember(_ key: PoolKey) -> Int {
    let origin = origins.insert(PooledOrigin(key: key))
    slots[key] = origin
    return origin
  }

  /// Removes the records of all disposable origins. Then removes the records of the least recently used dormant origins as long as
  /// there are more than `originsRememberedMax` records.
  mutating func forgetUnused() {
    while let origin = disposable.first {
      standingLinks.remove(origin, from: &disposable)
      forget(origin)
    }
    while origins.count > limits.originsRememberedMax, let origin = dormant.first {
      standingLinks.remove(origin, from: &dormant)
      forget(origin)
    }
  }

  private mutating func forget(_ origin: Int) {
    if let key = origins[origin].key { slots[key] = nil }
    origins.remove(origin, leaving: PooledOrigin())
  }

  /// Updates the pool's lists of origins after the waiters or connections of `origin` have changed.
  mutating func reclassify(_ origin: Int) {
    let hasRoom = origins[origin].connectionCount < limits.connectionsPerOriginMax
    awaitingPlace.set(origin, to: hasRoom ? origins[origin].firstWithoutOpening.map { waiters[$0].serial } : nil)
    let standing = origins[origin].presentStanding
    let before = origins[origin].standing
    guard standing != before else { return }
    origins[origin].standing = standing
    switch before {
    case .used: break
    case .orphaned: standingLinks.remove(origin, from: &orphaned)
    case .dormant: standingLinks.remove(origin, from: &dormant)
    case .disposable: standingLinks.remove(origin, from: &disposable)
    }
    switch standing {
    case .used: break
    case .orphaned: standingLinks.append(origin, to: &orphaned)
    case .dormant: standingLinks.append(origin, to: &dormant)
    case .disposable: standingLinks.append(origin, to: &disposable)
    }
  }
}
