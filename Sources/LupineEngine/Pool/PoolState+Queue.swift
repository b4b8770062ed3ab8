// The queues of waiters, and which of them has a connection on its way. An origin's first waiters have one each.

internal import LupineWire

extension PoolState {
  /// Puts an exchange at the end of its origin's queue.
  mutating func enqueue(_ exchange: ExchangeID, at origin: Int) -> Ticket {
    lastWaiter += 1
    let waiter = waiters.insert(Waiter(serial: lastWaiter, exchange: exchange, origin: origin))
    queueLinks.append(waiter, to: &origins[origin].queue)
    if origins[origin].firstUnattended == nil { origins[origin].firstUnattended = waiter }
    return Ticket(serial: lastWaiter, slot: waiter)
  }

  /// Takes a waiter out of its queue. What was being opened for it is opened for the first who has nothing yet.
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

  /// A connection is being opened on behalf of the first unattended waiter.
  mutating func attend(_ waiter: Int, by opening: Int) {
    waiters[waiter].opening = opening
    connections[opening].state = .opening(asker: waiter)
    origins[waiters[waiter].origin].firstUnattended = queueLinks.next(after: waiter)
  }

  /// The connection that a waiter asked for will serve the first of the queue; what was being opened for that one is
  /// opened for the waiter from now on.
  mutating func giveOpeningOfFirst(to asker: Int) {
    guard let first = origins[waiters[asker].origin].queue.first else { preconditionFailure("a waiter isn't queued") }
    // The first has nothing on its way if it is the asker itself.
    waiters[asker].opening = nil
    guard let opening = waiters[first].opening else { return }
    waiters[first].opening = nil
    waiters[asker].opening = opening
    connections[opening].state = .opening(asker: asker)
    noteHeir(of: opening)
  }

  /// Nothing is on its way any more for a waiter that had something, and stays. The last one that has something leaves it
  /// to that waiter, and is returned: nothing is on its way for it now.
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

  /// Makes room for a key that isn't known.
  mutating func remember(_ key: PoolKey) -> Int {
    let origin = origins.insert(PooledOrigin(key: key))
    slots[key] = origin
    return origin
  }

  /// Forgets origins that nobody can use again, and those that nobody uses if there are too many.
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

  /// Brings the lists of origins up to date with one whose waiters or connections have changed.
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
