// SimulatedNetwork: the kernel's part in a simulated run. It opens sockets, reports readiness and tracks open sockets.

@testable import LupineEngine
@testable import LupineReactor

/// A simulated network for the engine: it opens sockets to simulated servers, and reports which sockets are ready.
final class SimulatedNetwork: Network {
  private let world: World
  /// The client's open connections, in the order in which they were opened.
  private(set) var streams: [SimulatedStream] = []
  private(set) var isStopped = false
  private var lastPort: UInt16 = 1_024
  /// The index of the origin at each address. At the proxy's addresses, the value is nil.
  private var hosts: [String: Int?] = [:]
  /// The number of calls of the engine that have changed the network. It shows whether an iteration of the loop had any effect.
  var operationCount = 0

  init(_ world: World) {
    self.world = world
    for (index, origin) in world.schedule.origins.enumerated() {
      for address in origin.addresses { hosts[address] = .some(index) }
    }
    for address in SimulatedResolver.proxyAddresses { hosts[address] = .some(nil) }
  }

  var now: Instant {
    // Each reading of the clock advances it a little, because an iteration of the loop takes time.
    world.agenda.advance(to: world.agenda.now + .nanoseconds(300))
    return world.agenda.now
  }

  func stop() { isStopped = true }

  // MARK: Connecting

  func connect(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> any StreamSocket {
    operationCount += 1
    if world.strikes(\.outOfDescriptors, &world.random) {
      world.ledger.lackedResources = true
      throw SystemError(call: "socket", code: ErrorCode.outOfDescriptors)
    }
    guard let host = hosts[address.host] else {
      world.violate("connected to \(address), which has no host")
      throw SystemError(call: "connect", code: ErrorCode.unreachable)
    }
    lastPort += 1
    let stream = SimulatedStream(freeNumber, localPort: lastPort, address, world)
    streams.append(stream)
    world.ledger.streams[lastPort] = stream
    world.note("\(stream.name): connects to \(address) as \(stream.number)")
    settle(stream, host)
    return SimulatedSocket(stream, self)
  }

  func link(to address: SocketAddress, options: SocketOptions) -> NetworkLink? { nil }

  /// The lowest free descriptor number. The kernel also assigns the lowest one, so that numbers are reused immediately.
  private var freeNumber: CInt {
    let used = Set(streams.map(\.number))
    var number: CInt = 5
    while used.contains(number) { number += 1 }
    return number
  }

  private func settle(_ stream: SimulatedStream, _ host: Int?) {
    var random = stream.random.fork()
    if world.strikes(\.neverConnects, &random) { return }
    let error: Int32? =
      if world.strikes(\.isRefused, &random) {
        ErrorCode.refused
      } else if world.strikes(\.isUnreachable, &random) { ErrorCode.unreachable } else { nil }
    world.agenda.after(random.chance(20) ? random.duration(1_000) : random.duration(50)) { [world] in
      guard !stream.isClientGone else { return }
      if let error {
        if error == ErrorCode.refused { world.ledger.wasRefused = true } else { world.ledger.wasUnreachable = true }
        stream.state = .failed(error)
      } else {
        stream.state = .connected
        stream.server = SimulatedServer(stream, host: host)
        stream.server?.begin()
      }
    }
  }

  func close(_ stream: SimulatedStream) {
    operationCount += 1
    streams.removeAll { $0 === stream }
    stream.clientCloses()
  }

  // MARK: The poller

  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    operationCount += 1
    let stream = try stream(number)
    try failNowAndThen()
    guard stream.registration == nil else {
      world.violate("\(stream.name): watched twice without unwatch")
      throw SystemError(call: "epoll_ctl", code: ErrorCode.exists)
    }
    stream.registration = (interest, token)
  }

  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    operationCount += 1
    let stream = try stream(number)
    try failNowAndThen()
    guard stream.registration != nil else {
      world.violate("\(stream.name): rewatched without being watched")
      throw SystemError(call: "epoll_ctl", code: ErrorCode.missing)
    }
    stream.registration = (interest, token)
  }

  func unwatch(_ number: CInt) throws(SystemError) {
    operationCount += 1
    let stream = try stream(number)
    guard stream.registration != nil else {
      world.violate("\(stream.name): unwatched without being watched")
      throw SystemError(call: "epoll_ctl", code: ErrorCode.missing)
    }
    stream.registration = nil
  }

  /// Sometimes throws the error with which the kernel refuses to watch a descriptor: it has no memory, or the user watches too many
  /// descriptors.
  private func failNowAndThen() throws(SystemError) {
    guard world.strikes(\.cantBeWatched, &world.random) else { return }
    world.ledger.lackedResources = true
    throw SystemError(call: "epoll_ctl", code: ErrorCode.noSpace)
  }

  private func stream(_ number: CInt) throws(SystemError) -> SimulatedStream {
    guard let stream = streams.first(where: { $0.number == number }) else {
      world.violate("a call for socket \(number), which isn't open")
      throw SystemError(call: "epoll_ctl", code: ErrorCode.missing)
    }
    return stream
  }

  /// Returns the events of some of the ready sockets in random order, and occasionally an event of a socket that isn't ready.
  func poll() -> [Poller.Event] {
    var ready: [Poller.Event] = []
    var spurious: [Poller.Event] = []
    for stream in streams {
      guard let (interest, token) = stream.registration else { continue }
      let isReadable = stream.isReadable && interest.contains(.readable) || stream.isBad
      let isWritable = stream.isWritable && interest.contains(.writable) || stream.isBad
      if isReadable || isWritable {
        ready.append(
          Poller.Event(
            token: token, isReadable: isReadable, isWritable: isWritable,
            hasPeerClosed: stream.isAtEnd && interest.contains(.readable)))
      } else if case .connected = stream.state, world.random.chance(3) {
        spurious.append(
          Poller.Event(
            token: token, isReadable: interest.contains(.readable), isWritable: interest.contains(.writable)))
      }
    }
    if ready.count > 1 {
      ready.shuffle(using: &world.random)
      if world.random.chance(20) { ready.removeLast(world.random.number(1...ready.count - 1)) }
    }
    return ready + spurious
  }
}
