// FlightTable: the requests that wait for the response to another request for the same URL (RFC 9111 §4). It performs no I/O.

import LupineCacheStore

/// The requests of one session that are in flight, by URI, each with the requests that wait for its response.
///
/// The request that was sent is the leader, and the others are its waiters. A waiter is released as soon as the response's head
/// shows that the response won't serve it. If the leader is canceled, the first waiter becomes the leader, and the others wait
/// for its response.
struct FlightTable<Member: Identifiable>: Sendable where Member: Sendable, Member.ID: Sendable {
  enum Role {
    /// The request is the leader: the caller must send it now, and call `end` when it has ended.
    case leads
    /// The request is a waiter: it is sent only after it has been released or promoted.
    case waits
    /// The request must be sent without waiting, because the leader's response can't serve it, or the URI's latest response could
    /// serve only one request.
    case goesAlone
  }

  /// How a leader has ended.
  enum Outcome {
    /// The stored responses may have changed, so the waiting requests look them up again.
    case stored
    /// The leader got no response that could serve the waiting requests.
    case failed
    /// The caller has canceled the leader, so nothing is known about the response.
    case canceled
  }

  /// The changes for the waiters after their leader has ended.
  struct Changes {
    /// The waiters that no longer wait. Each looks up stored responses again, and is sent if none serves it.
    var released: [Member] = []
    /// The waiter that is now the leader and must be sent, or nil if the flight has ended.
    var promoted: Member?
  }

  private struct Flight {
    var leader: Member.ID
    var waiters: [Member] = []
    /// Returns whether the leader's response can serve a request. Nil before the head of the response has arrived.
    var isServed: (@Sendable (Member) -> Bool)?
  }

  /// The maximum number of URIs in `unshared`: 1,000. Beyond it, the least recently added URI is forgotten, and requests for it
  /// wait for each other once more.
  static var unsharedURIsMax: Int { 1_000 }

  private var flights: [String: Flight] = [:]
  /// The URIs whose latest response could serve only one request. Waiting for the next response would only cost time.
  private var unshared = RecencyList<String, Bool>()

  /// The number of requests that wait.
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

  /// Begins a flight with this leader and no waiters. Returns false if there already is a flight for the URI.
  mutating func begin(_ uri: String, _ id: Member.ID) -> Bool {
    guard flights[uri] == nil else { return false }
    flights[uri] = Flight(leader: id)
    return true
  }

  /// Called when the head of the leader's response has arrived. Removes and returns the waiters that the response can't serve.
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

  /// Remembers whether the latest response for a URI can serve several requests. If not, later requests for the URI don't wait.
  mutating func note(_ uri: String, isShared: Bool) {
    guard !isShared else {
      unshared.remove(uri)
      return
    }
    unshared.insert(true, for: uri, byteCount: 0)
    if unshared.count > Self.unsharedURIsMax, let oldest = unshared.oldestKey { unshared.remove(oldest) }
  }

  /// Ends a flight. If the leader was canceled and there are waiters, the first of them becomes the leader instead.
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

  /// Removes a waiter. Returns false if the request with this identifier doesn't wait.
  mutating func leave(_ uri: String, _ id: Member.ID) -> Bool {
    guard let position = flights[uri]?.waiters.firstIndex(where: { $0.id == id }) else { return false }
    flights[uri]?.waiters.remove(at: position)
    return true
  }
}
