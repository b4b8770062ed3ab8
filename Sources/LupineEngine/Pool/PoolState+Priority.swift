// PoolState+Priority: the place of a waiter in a queue that is ordered by priority.

/// The last waiter that has a certain priority in an origin's queue.
struct PriorityTail: Sendable {
  let priority: ExchangePriority
  var last: Int
}

extension PoolState {
  /// Inserts a waiter into its origin's queue, before the waiters of lower priority and after all others. Takes O(1) while all
  /// waiters have the normal priority, and otherwise O(n) in the number of different priorities.
  ///
  /// If the waiter takes over the connection that is being opened for another waiter, returns the exchange of that other waiter.
  /// Otherwise, returns nil.
  mutating func insert(_ waiter: Int, _ priority: ExchangePriority, at origin: Int) -> ExchangeID? {
    guard priority != .normal || !origins[origin].tails.isEmpty else {
      queueLinks.append(waiter, to: &origins[origin].queue)
      if origins[origin].firstWithoutOpening == nil { origins[origin].firstWithoutOpening = waiter }
      return nil
    }
    queueLinks.insert(waiter, after: predecessor(of: waiter, priority, origin), in: &origins[origin].queue)
    return claimOpening(for: waiter, at: origin)
  }

  /// Updates the origin's `tails` for a new waiter. Returns the waiter after which the new waiter belongs in the queue, or nil if
  /// it becomes the first.
  private mutating func predecessor(of waiter: Int, _ priority: ExchangePriority, _ origin: Int) -> Int? {
    if origins[origin].tails.isEmpty, let last = origins[origin].queue.last {
      origins[origin].tails = [PriorityTail(priority: .normal, last: last)]
    }
    let index =
      origins[origin].tails.firstIndex { $0.priority.level <= priority.level } ?? origins[origin].tails.endIndex
    if index < origins[origin].tails.endIndex, origins[origin].tails[index].priority == priority {
      defer { origins[origin].tails[index].last = waiter }
      return origins[origin].tails[index].last
    }
    let predecessor = index > 0 ? origins[origin].tails[index - 1].last : nil
    origins[origin].tails.insert(PriorityTail(priority: priority, last: waiter), at: index)
    return predecessor
  }

  /// Ensures that connections are being opened only for the first waiters of the queue. If the new waiter is one of these, it takes
  /// over the connection that is being opened for the last of them, and the method returns the exchange of that last waiter.
  /// Otherwise, returns nil.
  private mutating func claimOpening(for waiter: Int, at origin: Int) -> ExchangeID? {
    let first = origins[origin].firstWithoutOpening
    let next = queueLinks.next(after: waiter)
    if next == first {
      origins[origin].firstWithoutOpening = waiter
      return nil
    }
    if let first, waiters[first].serial < waiters[waiter].serial { return nil }
    guard let last = first.map({ queueLinks.previous(before: $0) }) ?? origins[origin].queue.last,
      let opening = waiters[last].opening
    else { preconditionFailure("a waiter before the first without an opening has none") }
    pass(opening, from: last, to: waiter)
    origins[origin].firstWithoutOpening = last
    return waiters[last].exchange
  }

  /// Updates the origin's `tails` for a waiter that is about to leave the queue.
  mutating func dropTail(_ waiter: Int, at origin: Int) {
    guard let index = origins[origin].tails.firstIndex(where: { $0.last == waiter }) else { return }
    let priority = origins[origin].tails[index].priority
    if let previous = queueLinks.previous(before: waiter), waiters[previous].priority == priority {
      origins[origin].tails[index].last = previous
      return
    }
    origins[origin].tails.remove(at: index)
    if let only = origins[origin].tails.first, origins[origin].tails.count == 1, only.priority == .normal {
      origins[origin].tails = []
    }
  }
}
