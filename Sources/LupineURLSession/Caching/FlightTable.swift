// FlightTable: the requests that wait for the response to another request for the same URL (RFC 9111 §4). It performs no I/O.

import LupineCache
import LupineCacheStore

/// The requests of one session that are in flight, with the requests that wait for their responses. A flight consists of a request
/// that was sent and of the requests for the same URI that wait for its response. Each URI has at most one flight.
///
/// The request that was sent is the flight's leader, and the others are its waiters. When the head of the response shows that the
/// response can't answer a waiter, the waiter is released. If the leader is canceled, the first waiter becomes the leader, and the
/// other waiters wait for its response.
struct FlightTable<Member: Identifiable>: Sendable where Member: Sendable, Member.ID: Sendable {
  enum Role {
    /// The request is the leader of a new flight. The caller must send the request now, and call `end` when the request has ended.
    case leads
    /// The request waits for the leader's response. The caller must not send the request until the request is released or
    /// becomes the leader.
    case waits
    /// The request is sent without waiting, and no request waits for its response. Either the leader's response can't answer the
    /// request, or the latest response for the URI could answer only one request.
    case goesAlone
  }

  /// The way in which a flight's leader has ended.
  enum Outcome {
    /// The responses stored for the URI may have changed, so the waiting requests look them up again.
    case stored
    /// The leader got no response that could answer the waiting requests.
    case failed
    /// The caller has canceled the leader's request, or its response isn't stored because an unsafe request has invalidated it. The
    /// response to another request could answer the waiting requests.
    case canceled
  }

  /// The changes for the requests that waited for the leader's response, after the leader has ended.
  struct Changes {
    /// The requests that no longer wait. Each of them looks for stored responses again, and is sent to the origin if none can
    /// answer it.
    var released: [Member] = []
    /// The waiting request that is now the leader and must be sent to the origin. Nil if the flight has ended.
    var promoted: Member?
  }

  private struct Flight {
    var leader: Member.ID
    var waiters: [Member] = []
    /// A closure that returns whether the leader's response can answer a given request. Nil until the head of the response has
    /// arrived.
    var isServed: (@Sendable (Member) -> Bool)?
  }

  /// The maximum number of URIs in `unshared`: 1,000. If it is exceeded, the least recently added URI is removed, so that requests
  /// for that URI wait for each other again.
  static var unsharedURIsMax: Int { 1_000 }

  private var flights: [CacheKey: Flight] = [:]
  /// The URIs whose latest response could answer only one request. Requests for these URIs don't wait for each other, because the
  /// next response can probably answer only one request too.
  private var unshared = RecencyList<CacheKey, Bool>()

  /// The number of requests that wait for the response to another request, in all flights.
  var waiterCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }

  mutating func join(_ key: CacheKey, _ member: Member) -> Role {
    guard unshared[key] == nil else { return .goesAlone }
    guard let flight = flights[key] else {
      flights[key] = Flight(leader: member.id)
      return .leads
    }
    if let isServed = flight.isServed, !isServed(member) { return .goesAlone }
    flights[key]?.waiters.append(member)
    return .waits
  }

  /// Starts a flight with this leader and without waiters. Returns false if the URI already has a flight.
  mutating func begin(_ key: CacheKey, _ id: Member.ID) -> Bool {
    guard flights[key] == nil else { return false }
    flights[key] = Flight(leader: id)
    return true
  }

  /// Records that the head of the leader's response has arrived. Removes and returns the waiters that this response can't answer.
  mutating func announce(
    _ key: CacheKey, of leader: Member.ID, isServed: @escaping @Sendable (Member) -> Bool
  ) -> [Member] {
    guard var flight = flights[key], flight.leader == leader else { return [] }
    var (waiters, released): ([Member], [Member]) = ([], [])
    for waiter in flight.waiters {
      if isServed(waiter) { waiters.append(waiter) } else { released.append(waiter) }
    }
    (flight.waiters, flight.isServed) = (waiters, isServed)
    flights[key] = flight
    return released
  }

  /// Remembers whether the latest response for the URI can answer several requests. If it can't, later requests for the URI don't
  /// wait for each other.
  mutating func note(_ key: CacheKey, isShared: Bool) {
    guard !isShared else {
      unshared.remove(key)
      return
    }
    unshared.insert(true, for: key, byteCount: 0)
    if unshared.count > Self.unsharedURIsMax, let oldest = unshared.oldestKey { unshared.remove(oldest) }
  }

  /// Ends the leader's request. If it was canceled and the flight has waiters, the first waiter becomes the leader. Otherwise the
  /// flight ends and all waiters are released.
  mutating func end(_ key: CacheKey, of leader: Member.ID, _ outcome: Outcome) -> Changes {
    guard var flight = flights[key], flight.leader == leader else { return Changes() }
    guard outcome == .canceled, !flight.waiters.isEmpty else {
      flights[key] = nil
      return Changes(released: flight.waiters)
    }
    let next = flight.waiters.removeFirst()
    (flight.leader, flight.isServed) = (next.id, nil)
    flights[key] = flight
    return Changes(promoted: next)
  }

  /// Removes the waiting request with this identifier from the URI's flight. Returns false if there is no such request.
  mutating func leave(_ key: CacheKey, _ id: Member.ID) -> Bool {
    guard let position = flights[key]?.waiters.firstIndex(where: { $0.id == id }) else { return false }
    flights[key]?.waiters.remove(at: position)
    return true
  }
}
