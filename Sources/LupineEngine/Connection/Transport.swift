// Bytes to and from a peer, in clear or through TLS, without ever waiting.

internal import LupineReactor
internal import LupineTLS

/// A connected socket with what is still to be sent, and a TLS session if there is one.
struct Transport: ~Copyable {
  enum Received: Equatable {
    /// That many bytes of plaintext were put into the buffer.
    case bytes(Int)
    /// Nothing more is there yet.
    case nothing
    /// The peer has closed its side; with TLS, properly so.
    case end
  }

  let socket: Socket
  private var tls: TLSSession?
  private var outbox: [UInt8] = []  // as it goes onto the wire
  private var sentCount = 0

  init(_ socket: consuming Socket, tls: consuming TLSSession?) {
    self.socket = socket
    self.tls = tls
  }

  /// Bytes that were queued and not sent yet.
  var unsentCount: Int { outbox.count - sentCount }

  /// What was agreed on, or nil without TLS.
  var tlsInfo: TLSInfo? {
    switch tls {
    case .some(let session): session.info
    case .none: nil
    }
  }

  /// Queues plaintext.
  mutating func queue(_ bytes: [UInt8]) throws(Failure) {
    if sentCount > 0 {
      // What was sent goes, or a long body would gather here.
      outbox.removeFirst(sentCount)
      sentCount = 0
    }
    guard tls != nil else {
      if outbox.isEmpty { outbox = bytes } else { outbox += bytes }
      return
    }
    do {
      try tls?.write(bytes.span.bytes)
    } catch {
      throw .tls(error)
    }
    tls?.drainOutput(into: &outbox)
  }

  /// Sends what was queued, as far as the kernel takes it.
  mutating func flush() throws(Failure) {
    while sentCount < outbox.count {
      do {
        guard let count = try socket.send(outbox, from: sentCount) else { return }
        sentCount += count
      } catch {
        throw .system(error)
      }
    }
    // Not emptied in place: without TLS it shares its memory with the request that queued it.
    outbox = []
    sentCount = 0
  }

  /// Receives plaintext into `buffer`; `ciphertext` is room for what arrives through TLS.
  mutating func receive(
    into buffer: inout [UInt8], ciphertext: inout [UInt8]
  ) throws(Failure) -> Received {
    guard tls != nil else { return try receiveFromSocket(into: &buffer) }
    while true {
      do {
        switch try tls?.read(into: &buffer) {
        case .bytes(let count): return .bytes(count)
        case .closed: return .end
        case .needMoreBytes, nil: break
        }
      } catch {
        throw .tls(error)
      }
      guard try feedTLS(&ciphertext) else { return .nothing }
    }
  }

  /// Goes on with the TLS handshake; returns whether it is done. Call `flush` behind it.
  mutating func handshake(ciphertext: inout [UInt8]) throws(Failure) -> Bool {
    while true {
      do {
        defer { tls?.drainOutput(into: &outbox) }
        switch try tls?.handshake() {
        case .done, nil: return true
        case .needMoreBytes: break
        }
      } catch {
        // The alert that tells the peer why goes out as far as that is possible.
        try? flush()
        throw .tls(error)
      }
      try flush()
      guard try feedTLS(&ciphertext) else { return false }
    }
  }

  /// Tells the peer that nothing more will come, as far as that is possible without waiting.
  mutating func sayGoodbye() {
    guard tls != nil, unsentCount == 0 else { return }
    tls?.close()
    tls?.drainOutput(into: &outbox)
    try? flush()
  }

  private mutating func feedTLS(_ ciphertext: inout [UInt8]) throws(Failure) -> Bool {
    switch try receiveFromSocket(into: &ciphertext) {
    case .bytes(let count): tls?.receive(ciphertext.span.extracting(0..<count).bytes)
    case .end: tls?.receiveEnd()
    case .nothing: return false
    }
    return true
  }

  private func receiveFromSocket(into buffer: inout [UInt8]) throws(Failure) -> Received {
    do {
      return switch try socket.receive(into: &buffer) {
      case nil: .nothing
      case 0: .end
      case let count?: .bytes(count)
      }
    } catch {
      throw .system(error)
    }
  }
}
