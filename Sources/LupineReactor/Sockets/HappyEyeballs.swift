// HappyEyeballs: decides when to try which address, by Happy Eyeballs version 2 (RFC 8305). It uses no sockets or clocks.

/// The order and the timing of the attempts to connect to a host's addresses (RFC 8305).
///
/// Address families are interleaved, starting with the family of the first address (§4, with a First Address Family Count of
/// 1). The next attempt starts when an attempt has failed, or after the delay, whichever is earlier (§5). The first attempt
/// that connects wins, and the caller closes the others. If all addresses are of the same family, they are tried in their
/// order.
///
/// The Resolution Delay for late answers of the other family (§3) doesn't apply, because getaddrinfo returns both
/// families at once, sorted by RFC 6724.
package struct HappyEyeballs: Sendable {
  /// The action that the caller must perform next.
  package enum Step: Sendable {
    /// Start an attempt to connect to this address, then call `step` again.
    case attempt(SocketAddress)
    /// Wait for an attempt in flight to end, but no longer than `until`. `until` is nil if there are no more addresses to try.
    case wait(until: Instant?)
    /// All addresses have been tried, and all attempts have failed.
    case exhausted
  }

  /// The Connection Attempt Delay: 250 ms, as RFC 8305 §5 recommends (in the range of 10 ms to 2 s).
  package static let delay = Duration.milliseconds(250)

  private var remaining: ArraySlice<SocketAddress>
  private var nextStart: Instant
  private var running = 0

  /// Starts with the addresses that the resolver returned, in the resolver's order. The first attempt may start immediately.
  package init(_ addresses: [SocketAddress], now: Instant) {
    self.init(inOrder: Self.order(addresses), now: now)
  }

  /// Starts with addresses in the order in which to try them. The first attempt may start immediately.
  package init(inOrder addresses: [SocketAddress], now: Instant) {
    remaining = addresses[...]
    nextStart = now
  }

  /// Returns the action that the caller must perform at the time `now`.
  package mutating func step(now: Instant) -> Step {
    guard let address = remaining.first else { return running > 0 ? .wait(until: nil) : .exhausted }
    guard nextStart <= now else { return .wait(until: nextStart) }
    remaining.removeFirst()
    running += 1
    nextStart = now + Self.delay
    return .attempt(address)
  }

  /// Records that an attempt has failed. The next attempt may start immediately.
  package mutating func attemptFailed(now: Instant) {
    precondition(running > 0, "no attempt was running")
    running -= 1
    nextStart = now
  }

  /// Postpones an attempt that couldn't start. `step` returns the address again at `time`.
  package mutating func attemptPostponed(_ address: SocketAddress, until time: Instant) {
    precondition(running > 0, "no attempt was running")
    running -= 1
    remaining = [address] + remaining
    nextStart = time
  }

  /// Returns at most `ResolverConfiguration.addressesMax` of the addresses, in the order in which to try them. The limit exists
  /// because each attempt holds a descriptor until a connection is established, and a name server may return thousands of
  /// addresses.
  package static func order(_ addresses: [SocketAddress]) -> [SocketAddress] {
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
