// PoolState+Queue: the queues of waiters, and the connections being opened for them. Each of an origin's first waiters
// has one.

internal import LupineWire

extension PoolState {
  /// Appends an exchange to its origin's queue.
  mutating func enqueue(_ exchange: ExchangeID, at origin: Int) -> Ticket {
    lastWaiter += 1
    let waiter = waiters.insert(Waiter(serial: lastWaiter, exchange: exchange, origin: origin))
    queueLinks.append(waiter, to: &origins[origin].queue)
    if origins[origin].firstUnattended == nil { origins[origin].firstUnattended = waiter }
    return Ticket(serial: lastWaiter, slot: waiter)
  }

  /// Removes a waiter from its queue. The connection being opened for it passes to the first unattended waiter, or
  /// becomes an orphan.
  mutating func dequeue(_ waiter: Int) -> ExchangeID {
    let (exchange, origin, opening) = (waiters[waiter].exchange, waiters[waiter].origin, waiters[waiter].opening)
    if origins[origin].firstUnattended == waiter { origins[origin].firstUnattended = queueLinks.next(after: waiter) }
    queueLinks.remove(waiter, from: &origins[origin].queue)
    waiters.remove(waiter, leaving: Waiter())
    if let opening {
      connections[opening].state = .opening(asker: nil)
      if let heir = origins[origin].firstUnattended {
        attend(heir, by: opening)
        noteHeir(of: opening)
      } else {
        originLinks.append(opening, to: &origins[origin].orphans)
      }
    }
    if waiters.count == 0 { strain = nil }
    return exchange
  }

  /// Assigns a connection that is being opened to the first unattended waiter.
  mutating func attend(_ waiter: Int, by opening: Int) {
    waiters[waiter].opening = opening
    connections[opening].state = .opening(asker: waiter)
    origins[waiters[waiter].origin].firstUnattended = queueLinks.next(after: waiter)
  }

  /// Prepares for serving the queue's first waiter with the connection that `asker` requested. The connection being
  /// opened for the first waiter passes to `asker`.
  mutating func giveOpeningOfFirst(to asker: Int) {
    guard let first = origins[waiters[asker].origin].queue.first else { preconditionFailure("a waiter isn't queued") }
    // If the asker itself is the first, it has no other opening now.
    waiters[asker].opening = nil
    guard let opening = waiters[first].opening else { return }
    waiters[first].opening = nil
    waiters[asker].opening = opening
    connections[opening].state = .opening(asker: asker)
    noteHeir(of: opening)
  }

  /// Updates the queue after the opening for `waiter` has failed, while `waiter` keeps its place. The last attended
  /// waiter passes its opening to `waiter` and becomes the first unattended one. Returns the exchange that has no
  /// opening now.
  mutating func unattend(_ waiter: Int) -> ExchangeID {
    let origin = waiters[waiter].origin
    let before = origins[origin].firstUnattended.map { queueLinks.previous(before: $0) } ?? origins[origin].queue.last
    guard let last = before else { preconditionFailure("a waiter isn't queued") }
    if last != waiter, let opening = waiters[last].opening {
      waiters[last].opening = nil
      waiters[waiter].opening = opening
      connections[opening].state = .opening(asker: waiter)
      noteHeir(of: opening)
    }
    origins[origin].firstUnattended = last
    return waiters[last].exchange
  }

  // MARK: Origins

  /// Adds a record for a new key.
  mutating func remember(_ key: PoolKey) -> Int {
    let origin = origins.insert(PooledOrigin(key: key))
    slots[key] = origin
    return origin
  }

  /// Removes origins that can't be used again, and unused origins beyond the limit.
  mutating func forgetUnused() {
    while let origin = spent.first {
      standingLinks.remove(origin, from: &spent)
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

  /// Updates the lists of origins after this origin's waiters or connections have changed.
  mutating func settle(_ origin: Int) {
    let hasRoom = origins[origin].connectionCount < limits.connectionsPerOriginMax
    hungry.set(origin, to: hasRoom ? origins[origin].firstUnattended.map { waiters[$0].serial } : nil)
    let standing = origins[origin].presentStanding
    let before = origins[origin].standing
    guard standing != before else { return }
    origins[origin].standing = standing
    switch before {
    case .used: break
    case .needless: standingLinks.remove(origin, from: &needless)
    case .dormant: standingLinks.remove(origin, from: &dormant)
    case .spent: standingLinks.remove(origin, from: &spent)
    }
    switch standing {
    case .used: break
    case .needless: standingLinks.append(origin, to: &needless)
    case .dormant: standingLinks.append(origin, to: &dormant)
    case .spent: standingLinks.append(origin, to: &spent)
    }
  }
}
