// Who may open a connection when places or descriptors are short: first come, first served, among all origins.

internal import LupineReactor
internal import LupineWire

/// Descriptors have run out, and connections are opened carefully until some are found again.
struct Strain: Sendable {
  /// How many connections may be begun to open.
  var permits = 0
  /// When one may be tried at the latest; nil while another permit, or what is being opened, will tell.
  var retry: Instant?
  /// How long the latest pause was; zero if descriptors were found since.
  var pause = Duration.zero
}

extension PoolState {
  /// Ends every event: gives places to who waits for one, and forgets origins that nobody uses.
  mutating func conclude(_ actions: inout [Action]) {
    while let origin = hungry.first {
      if hasPlace { actions.append(open(origin)) } else if !makeRoom(&actions) { break }
    }
    forgetUnused()
  }

  /// What a connection is closed for when another one needs its place or its descriptor.
  var reasonToMakeRoom: CloseReason {
    connectionCount >= limits.connectionsMax ? .totalLimit : .descriptorsNeeded
  }

  private var hasPlace: Bool {
    guard connectionCount < limits.connectionsMax else { return false }
    return strain.map { $0.permits > 0 } ?? true
  }

  // Closes what is used least: the longest idle connection, or one that is being opened for nobody.
  private mutating func makeRoom(_ actions: inout [Action]) -> Bool {
    if let oldest = idle.first {
      close(oldest, reasonToMakeRoom, &actions)
    } else if let origin = needless.first, let orphan = origins[origin].orphans.first {
      abandon(orphan, &actions)
      settle(origin)
    } else {
      return false
    }
    return true
  }

  // MARK: Descriptors

  /// No descriptor was left for a connection. Those that were begun meanwhile may find none either; that's one pause.
  mutating func pauseOpening(_ now: Instant) {
    guard waiters.count > 0, strain?.retry == nil else { return }
    let before = strain?.pause ?? .zero
    // While there is something to close, this pause ends at once, and isn't counted.
    let wanted = idle.isEmpty && needless.isEmpty ? min(before * 2, PoolLimits.descriptorRetryMax) : before
    let pause = max(wanted, PoolLimits.descriptorRetryMin)
    strain = Strain(permits: 0, retry: now + pause, pause: pause)
  }

  /// A descriptor has become free, or is thought to be.
  mutating func permitOpening() {
    strain?.permits += 1
    strain?.retry = nil
  }

  /// A descriptor was found. As long as more are needed, each one found lets two more be tried.
  mutating func relax() {
    guard strain?.retry == nil else { return }
    if hungry.isEmpty {
      strain = nil
    } else {
      strain?.permits += 2
      strain?.pause = .zero
    }
  }
}
