// Happy Eyeballs version 2 (RFC 8305): which address to try when. Pure: addresses and time in, attempts out.

/// Decides in which order and how far apart addresses are tried.
///
/// Families are interleaved, beginning with the first answer's (§4, with a First Address Family Count of 1); the next
/// attempt starts when one has failed or after the delay, whichever comes first (§5). Whoever connects first has won,
/// and the owner of the attempts closes the others. With addresses of one family they are tried in their order.
///
/// getaddrinfo answers for both families at once, and has sorted the addresses by RFC 6724, so that the Resolution Delay
/// for a late answer of the other family (§3) has no place here.
package struct HappyEyeballs: Sendable {
  /// What to do next.
  package enum Step: Sendable {
    /// Start to connect to that address, then ask again.
    case attempt(SocketAddress)
    /// Wait for an attempt to end, if one is under way, and until that instant at the most; nil if no address is left to try.
    case wait(until: Instant?)
    /// Every address was tried and failed.
    case exhausted
  }

  /// The Connection Attempt Delay: 250 ms, as RFC 8305 §5 recommends (between 10 ms and 2 s).
  package static let delay = Duration.milliseconds(250)

  private var remaining: ArraySlice<SocketAddress>
  private var nextStart: Instant
  private var running = 0

  /// Takes the resolver's answer in its order.
  package init(_ addresses: [SocketAddress], now: Instant) {
    remaining = Self.order(addresses)[...]
    nextStart = now
  }

  /// What to do now.
  package mutating func step(now: Instant) -> Step {
    guard let address = remaining.first else { return running > 0 ? .wait(until: nil) : .exhausted }
    guard nextStart <= now else { return .wait(until: nextStart) }
    remaining.removeFirst()
    running += 1
    nextStart = now + Self.delay
    return .attempt(address)
  }

  /// An attempt failed; the next one may start at once.
  package mutating func attemptFailed(now: Instant) {
    precondition(running > 0, "no attempt was running")
    running -= 1
    nextStart = now
  }

  /// The attempt at that address couldn't be begun yet; it is made anew at that time.
  package mutating func attemptPostponed(_ address: SocketAddress, until time: Instant) {
    precondition(running > 0, "no attempt was running")
    running -= 1
    remaining = [address] + remaining
    nextStart = time
  }

  /// The order of the attempts, of which there are at most `ResolverConfiguration.addressesMax`: each holds a descriptor
  /// until the connection is made, and a name server may answer with thousands of addresses.
  static func order(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let preferred = addresses.filter { $0.isIPv6 == first.isIPv6 }
    let others = addresses.filter { $0.isIPv6 != first.isIPv6 }
    var result: [SocketAddress] = []
    for index in 0..<max(preferred.count, others.count) {
      if index < preferred.count { result.append(preferred[index]) }
      if index < others.count { result.append(others[index]) }
    }
    return Array(result.prefix(ResolverConfiguration.addressesMax))
  }
}
