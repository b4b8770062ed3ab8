// FlightTable: the requests that wait for the response to another request for the same URL (RFC 9111 §4). It performs no I/O.

import LupineCacheStore

/// The flights of one session, at most one for each URI. A flight consists of a request that was sent and of the requests that wait
/// for its response.
///
/// The request that was sent is the flight's leader, and the others are its waiters. A waiter is released as soon as the response's
/// head shows that the response won't serve it. If the leader is canceled, the first waiter becomes the leader, and the others wait
/// for its response.
struct FlightTable<Member: Identifiable>: Sendable where Member: Sendable, Member.ID: Sendable {
  enum Role {
    /// The request is the leader of a new flight: the caller must send it now, and call `end` when it has ended.
    case leads
    /// The request is a waiter. It must not be sent until it is released, or becomes the leader.
    case waits
    /// The request must be sent without waiting and without being a leader: the leader's response can't serve it, or the latest
    /// response for the URI could serve only one request.
    case goesAlone
  }

  /// The way in which a leader's request has ended.
  enum Outcome {
    /// The stored responses may have changed, so the waiters look them up again.
    case stored
    /// The leader got no response that could serve the waiters.
    case failed
    /// The caller has canceled the leader's request, so it isn't known whether the response could serve the waiters.
    case canceled
  }

  /// The changes for a flight's waiters after the leader's request has ended.
  struct Changes {
    /// The requests that no longer wait. Each of them looks up the stored responses again, and is sent if none of these can serve
    /// it.
    var released: [Member] = []
    /// The waiter that is now the leader and must be sent. Nil if the flight has ended.
    var promoted: Member?
  }

  private struct Flight {
    var leader: Member.ID
    var waiters: [Member] = []
    /// A closure that returns whether the leader's response can serve a request. Nil until the head of the response has arrived.
    var isServed: (@Sendable (Member) -> Bool)?
  }

  /// The maximum number of URIs in `unshared`: 1,000. When it is exceeded, the least recently added URI is removed, so that
  /// requests for that URI wait for each other again.
  static var unsharedURIsMax: Int { 1_000 }

  private var flights: [String: Flight] = [:]
  /// The URIs whose latest response could serve only one request. Requests for these URIs don't wait, because the next response
  /// could probably serve only one request too.
  private var unshared = RecencyList<String, Bool>()

  /// The number of waiters in all flights.
  var waiterCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }

  mutating func join(_ uri: String, _ member: Member) -> Role {
    guard unshared[uri] == nil else { return .goesAlone }
    guard let flight = flights[uri] else {
      flights[uri] = Flight(leader: member.id)
      return .leads
    }
    if let isServed = flight.isServed, !isServed(member) { return .goesAlone }
    flights[uri]?.waiters.append(member)
    return .waits
  }

  /// Begins a flight that has this leader and no waiters. Returns false if the URI already has a flight.
  mutating func begin(_ uri: String, _ id: Member.ID) -> Bool {
    guard flights[uri] == nil else { return false }
    flights[uri] = Flight(leader: id)
    return true
  }

  /// Records that the head of the leader's response has arrived. Removes and returns the waiters that this response can't serve.
  mutating func announce(
    _ uri: String, of leader: Member.ID, isServed: @escaping @Sendable (Member) -> Bool
  ) -> [Member] {
    guard var flight = flights[uri], flight.leader == leader else { return [] }
    var (waiters, released): ([Member], [Member]) = ([], [])
    for waiter in flight.waiters {
      if isServed(waiter) { waiters.append(waiter) } else { released.append(waiter) }
    }
    (flight.waiters, flight.isServed) = (waiters, isServed)
    flights[uri] = flight
    return released
  }

  /// Remembers whether the latest response for the URI can serve several requests. If it can't, later requests for the URI don't
  /// wait.
  mutating func note(_ uri: String, isShared: Bool) {
    guard !isShared else {
      unshared.remove(uri)
      return
    }
    unshared.insert(true, for: uri, byteCount: 0)
    if unshared.count > Self.unsharedURIsMax, let oldest = unshared.oldestKey { unshared.remove(oldest) }
  }

  /// Ends the leader's request. If it was canceled and the flight has waiters, the first waiter becomes the leader. Otherwise the
  /// flight ends and all waiters are released.
  mutating func end(_ uri: String, of leader: Member.ID, _ outcome: Outcome) -> Changes {
    guard var flight = flights[uri], flight.leader == leader else { return Changes() }
    guard outcome == .canceled, !flight.waiters.isEmpty else {
      flights[uri] = nil
      return Changes(released: flight.waiters)
    }
    let next = flight.waiters.removeFirst()
    (flight.leader, flight.isServed) = (next.id, nil)
    flights[uri] = flight
    return Changes(promoted: next)
  }

  /// Removes the waiter with this identifier from the flight of the URI. Returns false if there is no such waiter.
  mutating func leave(_ uri: String, _ id: Member.ID) -> Bool {
    guard let position = flights[uri]?.waiters.firstIndex(where: { $0.id == id }) else { return false }
    flights[uri]?.waiters.remove(at: position)
    return true
  }
}
