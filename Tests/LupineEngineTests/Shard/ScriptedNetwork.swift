// ScriptedNetwork: a network controlled by a test, which sets the received bytes, the room for sending and the time.

@testable import LupineEngine
@testable import LupineReactor
import LupineOrigin
import LupineTLS
import LupineWire
import Testing

/// A client's socket for tests. The test plays the peer: it sets the bytes to receive, and reads the bytes sent.
final class ScriptedSocket: StreamSocket {
  enum Arrival {
    case bytes([UInt8])
    case end
  }

  let number: CInt
  let localAddress: SocketAddress? = nil
  let peerAddress: SocketAddress? = nil
  /// The bytes that the next reads will return, and the end of the connection if the peer has closed it.
  var arrivals: [Arrival] = []
  /// The number of bytes that each read has returned.
  private(set) var reads: [Int] = []
  /// The bytes that the client has sent.
  var sent: [UInt8] = []
  /// The number of bytes that the socket will still accept before sending would block.
  var roomBytes = Int.max
  /// A callback that the socket calls after the client has sent bytes.
  var onSend: () -> Void = {}
  /// The error that sending on the socket throws, or nil to let it succeed.
  var sendFailure: SystemError?

  init(number: CInt) { self.number = number }

  /// Whether the peer has closed the connection, even if the client hasn't received all bytes yet.
  var hasPeerClosed: Bool { if case .end = arrivals.last { true } else { false } }

  func finishConnecting() {}

  func receive(into buffer: inout [UInt8], from offset: Int) -> Int? {
    switch arrivals.first {
    case nil: return nil
    case .end: return 0
    case .bytes(let bytes):
      let count = min(bytes.count, buffer.count - offset)
      buffer.replaceSubrange(offset..<offset + count, with: bytes[..<count])
      reads.append(count)
      arrivals.removeFirst()
      if count < bytes.count { arrivals.insert(.bytes(Array(bytes[count...])), at: 0) }
      return count
    }
  }

  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    if let sendFailure { throw sendFailure }
    let count = min(bytes.count - offset, roomBytes)
    guard count > 0 else { return nil }
    roomBytes -= count
    sent += bytes[offset..<offset + count]
    onSend()
    return count
  }

  func endSending() {}

  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int? {
    throw SystemError(call: "sendfile", code: 22)
  }
}

/// A network for tests, whose sockets are `ScriptedSocket`s. It records them in the order in which the client opened them.
final class ScriptedNetwork: Network {
  var now = Instant(nanoseconds: 0)
  private(set) var sockets: [ScriptedSocket] = []
  /// The peer's address of each socket, in the order of `sockets`.
  private(set) var addresses: [SocketAddress] = []
  private(set) var isStopped = false
  /// The error that connecting throws, or nil to let it succeed.
  var connectFailure: SystemError?
  /// The hosts to which connecting fails, because they refuse connections.
  var failing: Set<String> = []
  /// The error that registering a socket with the poller throws, or nil to let it succeed.
  var watchFailure: SystemError?
  /// The options with which each socket was opened, in the order of `sockets`.
  private(set) var options: [SocketOptions] = []
  /// The network links by the destination addresses that they lead to. Looking up the link of any other address fails.
  var links: [String: NetworkLink] = [:]
  private var watched: [CInt: (Poller.Interest, UInt64)] = [:]

  func connect(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> any StreamSocket {
    if let connectFailure { throw connectFailure }
    if failing.contains(address.host) { throw SystemError(call: "connect", code: 111) }
    let socket = ScriptedSocket(number: CInt(100 + sockets.count))
    sockets.append(socket)
    addresses.append(address)
    self.options.append(options)
    return socket
  }

  func link(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> NetworkLink? {
    guard let link = links[address.host] else { throw SystemError(call: "netlink", code: 101) }
    return link
  }

  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    if let watchFailure { throw watchFailure }
    watched[number] = (interest, token)
  }
  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) { watched[number] = (interest, token) }
  func unwatch(_ number: CInt) { watched[number] = nil }
  func stop() { isStopped = true }

  func token(of socket: ScriptedSocket) -> UInt64? { watched[socket.number]?.1 }

  /// Returns the poller's event for the socket: whether it is readable and writable, limited to what the client has registered for.
  func event(of socket: ScriptedSocket) -> [Poller.Event] {
    guard let (interest, token) = watched[socket.number] else { return [] }
    return [
      Poller.Event(
        token: token, isReadable: interest.contains(.readable) && !socket.arrivals.isEmpty,
        isWritable: interest.contains(.writable) && socket.roomBytes > 0,
        hasPeerClosed: interest.contains(.readable) && socket.hasPeerClosed)
    ]
  }
}

/// A shard (one event loop of the engine) that runs an iteration only when the test calls `turn`.
final class ShardStage {
  let network = ScriptedNetwork()
  let inbox = Inbox {}
  let shard: Shard

  /// Creates a shard that looks up hosts with `resolver`. If `resolver` is nil, the shard uses the configuration's resolver.
  init(
    proxy: ProxySettings = .none, resolver: NameService? = nil,
    _ change: (inout EngineConfiguration) -> Void = { _ in }, runBlocking: @escaping BlockingJobs = { $0() }
  ) {
    var configuration = EngineConfiguration()
    change(&configuration)
    shard = Shard(
      configuration, proxyRules: proxy.rules(environment: [:]), network: network,
      resolver: resolver ?? NameService(configuration.resolver),
      tlsContexts: TLSContexts(), inbox: inbox, runBlocking: runBlocking)
  }

  /// Ends the exchanges in flight. Otherwise they would retain the shard and each other.
  deinit {
    inbox.send(.shutDown(isGraceful: false, completion: nil))
    turn()
  }

  /// Submits a request. The shard processes it in its next iteration.
  func submit(_ request: EngineRequest, windowBytes: Int = .max) -> (ExchangeID, RecordingSink) {
    let (id, sink) = (inbox.nextExchangeID(), RecordingSink())
    inbox.send(.submit(Submission(id, request, to: sink, windowBytes: windowBytes)))
    return (id, sink)
  }

  /// Submits the stage's first request, and completes it with a 204 response. Returns the request's number and the socket of its
  /// connection, which is then idle.
  func completeFirstRequest() throws -> (ExchangeID, ScriptedSocket) {
    let (id, sink) = submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    turn()
    let socket = try #require(network.sockets.first)
    turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    turn(socket)
    try #require(sink.finished.isOpen)
    return (id, socket)
  }

  /// Runs one iteration of the loop in which the poller reports an error of the socket. The poller reports errors even if the
  /// client hasn't registered for any event.
  func turn(error socket: ScriptedSocket) {
    guard let token = network.token(of: socket) else { return }
    _ = shard.turn(
      [Poller.Event(token: token, isReadable: true, isWritable: true)], fetched: network.now, now: network.now)
  }

  /// Advances the clock by `time`, then runs one iteration of the loop with the events of these sockets. A `pause` simulates that
  /// the process was stopped after it had fetched the events. Returns the time at which the shard requests the next iteration.
  @discardableResult
  func turn(
    after time: Duration = .zero, stoppedFor pause: Duration = .zero, _ sockets: ScriptedSocket...
  ) -> Instant? {
    network.now = network.now + time
    let fetched = network.now
    network.now = network.now + pause
    _ = shard.gather()
    return shard.turn(sockets.flatMap(network.event(of:)), fetched: fetched, now: network.now)
  }
}
