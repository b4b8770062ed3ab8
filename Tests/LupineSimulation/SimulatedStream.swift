// SimulatedStream: one simulated TCP connection, with the kernel's state and the client's socket.

@testable import LupineReactor

/// A simulated TCP connection, as the kernel sees it. It outlives the client's socket.
final class SimulatedStream {
  enum State {
    case connecting
    case connected
    /// The connection attempt has failed with this errno value.
    case failed(Int32)
  }

  let number: CInt
  let localPort: UInt16
  let remote: SocketAddress
  unowned let world: World
  var random: Decisions
  var state = State.connecting
  /// The server at the other end. Nil until the connection is established.
  var server: SimulatedServer?
  /// The events that the client watches the socket for, and the token for them. Nil if the client doesn't watch the socket.
  var registration: (interest: Poller.Interest, token: UInt64)?
  private(set) var isClientGone = false

  // The direction from the server to the client: the bytes that the client hasn't read, and the direction's end.
  private var incoming: ArraySlice<UInt8> = []
  private(set) var isAtEnd = false
  private(set) var isReset = false
  /// The number of bytes that the client has read from the connection.
  private(set) var readCount = 0
  /// The number of bytes that have arrived at the client's socket.
  private(set) var arrivedCount = 0
  /// The time at which the oldest unread bytes, or the end of the connection, arrived at the client's socket.
  private(set) var unreadSince: Instant?
  /// The offsets in the received bytes at which complete responses end. A read by the client that extends beyond such an offset
  /// returns surplus bytes.
  var responseEnds: [Int] = []

  // The direction from the client to the server: the bytes that the server hasn't read.
  private(set) var outgoing: [UInt8] = []
  /// The number of sent bytes that the kernel buffers while the server doesn't read.
  private var capacity: Int
  private var takenCount = 0
  /// The time at which the server last read bytes, which freed space in the kernel's buffer.
  private(set) var lastTaken: Instant?

  // Facts with which the oracle judges the engine.
  private(set) var lastSent: Instant?
  private(set) var lastRead: Instant?
  /// Whether the server has closed or reset the connection.
  var wasCut: Bool { isAtEnd || isReset }
  var hasSpokenUnasked = false
  /// Whether the connection was in the client's pool as an idle one at the end of any iteration of the loop.
  var hasBeenIdle = false
  /// The offset of the first byte that the server has sent while no request was in progress, or nil if there is none.
  var idleSpeechStart: Int?
  /// The reason why the client must not reuse the connection once it can know that, or nil if it may.
  var finality: String?

  init(_ number: CInt, localPort: UInt16, _ remote: SocketAddress, _ world: World) {
    self.number = number
    self.localPort = localPort
    self.remote = remote
    self.world = world
    random = world.random.fork()
    capacity = random.pick([1, 50, 4_000, 300_000, 300_000])
  }

  var name: String { "stream \(localPort)" }

  // MARK: The poller's view

  var isReadable: Bool { !incoming.isEmpty || isAtEnd || isBad }
  var isWritable: Bool { if case .connected = state { outgoing.count < capacity || isReset } else { isBad } }
  /// Whether the connection has failed. The poller reports errors whatever events the client watches the socket for.
  var isBad: Bool { if case .failed = state { true } else { isReset } }

  // MARK: The client's side

  func finishConnecting() throws(SystemError) {
    switch state {
    case .connected: break
    case .failed(let code): throw SystemError(call: "connect", code: code)
    case .connecting: world.violate("\(name): queried before connecting had ended")
    }
  }

  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    guard !incoming.isEmpty else {
      if isReset { throw SystemError(call: "recv", code: ErrorCode.reset) }
      return isAtEnd ? 0 : nil
    }
    var count = min(incoming.count, buffer.count - offset)
    if random.chance(10) { count = random.number(1...count) }
    buffer.replaceSubrange(offset..<offset + count, with: incoming.prefix(count))
    incoming = incoming.dropFirst(count)
    let before = readCount
    readCount += count
    if responseEnds.contains(where: { before < $0 && $0 < readCount }) {
      finality = finality ?? "bytes followed a response in one read"
    }
    lastRead = world.agenda.now
    if incoming.isEmpty { unreadSince = nil }
    world.note("\(name): client reads \(count)")
    return count
  }

  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    if isReset { throw SystemError(call: "send", code: ErrorCode.brokenPipe) }
    checkReuse()
    let hasHeard = idleSpeechStart.map { $0 < readCount } ?? false
    world.require(!hasHeard, "\(name): reused although unsolicited bytes were read")
    var count = min(bytes.count - offset, capacity - outgoing.count)
    guard count > 0, !random.chance(5) else { return nil }
    if random.chance(15) { count = random.number(1...count) }
    outgoing += bytes[offset..<offset + count]
    lastSent = world.agenda.now
    world.note("\(name): client sends \(count)")
    if isAtEnd {
      // The server's kernel has closed the socket, and answers with a reset. In a schedule without faults, it drops the bytes
      // instead.
      if !world.schedule.isBenign { world.agenda.after(random.duration(20)) { self.reset() } }
    } else {
      world.agenda.after(random.duration(20)) { self.server?.bytesArrived() }
    }
    return count
  }

  // Checks that the client doesn't reuse a connection after it could have seen the connection's end or unsolicited bytes. The
  // poller may report these an iteration or two late, which takes far less than the limit.
  private func checkReuse() {
    guard let server, server.isAtRest, outgoing.isEmpty, let unreadSince else { return }
    let age = world.agenda.now - unreadSince
    world.require(age < .milliseconds(2), "\(name): reused \(age) after its server closed it or sent bytes")
  }

  func clientCloses() {
    registration = nil
    isClientGone = true
    world.note("\(name): client closes")
    world.agenda.after(random.duration(20)) { self.server?.clientClosed() }
  }

  // MARK: The server's side

  /// Removes up to `countMax` bytes that the client has sent from the kernel's buffer, and returns them to the server.
  func takeOutgoing(_ countMax: Int) -> ArraySlice<UInt8> {
    let taken = outgoing.prefix(countMax)
    outgoing.removeFirst(taken.count)
    lastTaken = world.agenda.now
    takenCount += taken.count
    // The buffer grows with the number of bytes transferred; otherwise long bodies would be sent byte by byte.
    if takenCount > 400 { capacity = max(capacity, 4_000) }
    return taken
  }

  func deliver(_ bytes: ArraySlice<UInt8>) {
    guard !wasCut, !bytes.isEmpty else { return }
    arrivedCount += bytes.count
    incoming = incoming.isEmpty ? bytes : incoming + bytes
    if unreadSince == nil { unreadSince = world.agenda.now }
    world.note("\(name): \(bytes.count) bytes arrive")
  }

  /// Closes the connection from the server's side, as by a FIN.
  func end() {
    guard !wasCut else { return }
    isAtEnd = true
    if unreadSince == nil { unreadSince = world.agenda.now }
    world.note("\(name): server closes")
  }

  func reset() {
    guard !isReset else { return }
    isReset = true
    if unreadSince == nil { unreadSince = world.agenda.now }
    // Bytes that the client hasn't read may be lost.
    if random.chance(50) { incoming = [] }
    world.note("\(name): reset, \(incoming.count) bytes left")
  }
}

/// The errno values of Linux that the simulated kernel returns.
enum ErrorCode {
  static let outOfDescriptors: Int32 = 24  // EMFILE
  static let noSpace: Int32 = 28  // ENOSPC
  static let brokenPipe: Int32 = 32  // EPIPE
  static let reset: Int32 = 104  // ECONNRESET
  static let refused: Int32 = 111  // ECONNREFUSED
  static let unreachable: Int32 = 113  // EHOSTUNREACH
  static let exists: Int32 = 17  // EEXIST
  static let invalid: Int32 = 22  // EINVAL
  static let missing: Int32 = 2  // ENOENT
}

/// The client's socket of a simulated connection. It is closed when its last reference is released.
final class SimulatedSocket: StreamSocket {
  private let stream: SimulatedStream
  private let network: SimulatedNetwork

  init(_ stream: SimulatedStream, _ network: SimulatedNetwork) {
    self.stream = stream
    self.network = network
  }

  deinit {
    network.close(stream)
  }

  var number: CInt { stream.number }
  var localAddress: SocketAddress? { SocketAddress(numeric: "10.9.9.9", port: stream.localPort) }
  var peerAddress: SocketAddress? { stream.remote }

  func finishConnecting() throws(SystemError) { try stream.finishConnecting() }

  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    let count = try stream.receive(into: &buffer, from: offset)
    // Reading the end of the connection repeatedly isn't counted as progress.
    if count ?? 0 > 0 { network.operationCount += 1 }
    return count
  }

  /// Never called, because the simulation has no raw streams.
  func endSending() {}

  /// Throws the error of a file that doesn't support sendfile(2), so that the engine reads the file itself.
  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int? {
    throw SystemError(call: "sendfile", code: ErrorCode.invalid)
  }

  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    let count = try stream.send(bytes, from: offset)
    if count != nil { network.operationCount += 1 }
    return count
  }
}
