// A connection that is being opened: resolve, connect to one of the addresses, TLS.

internal import LupineReactor
internal import LupineWire

/// One attempt to open a connection; touched on its loop's thread alone.
///
/// It belongs to the pool, not to the exchange that asked for it, which may meanwhile be served by another connection.
final class Opening {
  enum State {
    case resolving
    /// Sockets that try to connect, by their poller token.
    case connecting(HappyEyeballs)
    case handshaking
  }

  let id: ConnectionID
  let key: PoolKey
  /// The limits of the exchange that asked first.
  let timeouts: Timeouts

  var state = State.resolving
  var times = OpeningTimes()
  /// When the present phase has to be over.
  var phaseDeadline: Instant?
  var candidates: [UInt64: Candidate] = [:]
  /// The connected socket during the TLS handshake, and what the poller was asked for.
  var transport: Transport?
  var token: UInt64 = 0
  var interest: Poller.Interest = []
  /// Why the latest address failed.
  var lastError: SystemError?

  /// A socket that tries to connect.
  final class Candidate {
    private var socket: Socket?
    let number: CInt

    init(_ socket: consuming Socket) {
      number = socket.number
      self.socket = .some(socket)
    }

    func take() -> Socket? { socket.take() }
  }

  init(id: ConnectionID, key: PoolKey, timeouts: Timeouts) {
    self.id = id
    self.key = key
    self.timeouts = timeouts
  }

  var phase: Phase {
    switch state {
    case .resolving: .resolve
    case .connecting: .connect
    case .handshaking: .tls
    }
  }
}
