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
    /// A whole read of ciphertext had no plaintext in it; more may be there.
    case noPlaintext
    /// The peer has closed its side; with TLS, properly so.
    case end
  }

  /// How often one turn reads for a handshake, 64 KiB at a time: 4, for a chain of certificates of 100 KiB and the rest.
  private static let handshakeReadsMax = 4
  /// How many bytes TLS may have answered that the peer doesn't take: 16 KiB, 600 key updates, where servers that mean
  /// well ask for one in 2^24 records. A peer could fill the memory otherwise.
  private static let answerBytesMax = 16 * 1024

  let socket: any StreamSocket
  private var tls: TLSSession?
  private var outbox: [UInt8] = []  // as it goes onto the wire
  private var sentCount = 0
  /// Whether the latest read for TLS filled its buffer, so that the kernel may hold more.
  private var hasFilledBuffer = false
  /// Bytes that TLS has answered of its own accord since the outbox was empty.
  private var answerBytes = 0

  init(_ socket: any StreamSocket, tls: consuming TLSSession?) {
    self.socket = socket
    self.tls = tls
  }

  /// Bytes that were queued and not sent yet.
  var unsentCount: Int { outbox.count - sentCount }

  /// Whether bytes go through TLS.
  var isEncrypted: Bool {
    switch tls {
    case .some: true
    case .none: false
    }
  }

  /// Whether bytes from the peer lie in TLS that nobody has read yet: records, or a part of one.
  var hasUnreadInput: Bool {
    switch tls {
    case .some(let session): session.hasUnreadInput
    case .none: false
    }
  }

  /// Whether TLS may have more to read, by itself or from the kernel, that no event has announced yet.
  var mayHoldPlaintext: Bool { hasUnreadInput || hasFilledBuffer }

  /// How many handshake messages, such as key updates, came in front of the plaintext that was received last.
  var handshakeMessageCount: Int {
    switch tls {
    case .some(let session): session.handshakeMessageCount
    case .none: 0
    }
  }

  /// Whether a file could be sent now without passing through this process.
  var canSendFiles: Bool { !isEncrypted && unsentCount == 0 }

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

  /// Sends what was queued, as far as the kernel takes it; returns how many bytes are left.
  @discardableResult
  mutating func flush() throws(Failure) -> Int {
    while sentCount < outbox.count {
      do {
        guard let count = try socket.send(outbox, from: sentCount) else { return unsentCount }
        sentCount += count
      } catch {
        throw .system(error)
      }
    }
    // Not emptied in place: without TLS it shares its memory with the request that queued it.
    outbox = []
    sentCount = 0
    answerBytes = 0
    return 0
  }

  /// Receives plaintext into `buffer`, without TLS from `offset` on; `ciphertext` is room for what arrives through TLS.
  mutating func receive(
    into buffer: inout [UInt8], from offset: Int = 0, ciphertext: inout [UInt8]
  ) throws(Failure) -> Received {
    guard tls != nil else {
      return switch try receiveFromSocket(into: &buffer, from: offset) {
      case nil: .nothing
      case 0: .end
      case let count?: .bytes(count)
      }
    }
    var isFed = false
    while true {
      let step: TLSSession.ReadStep?
      let mayAlert = unsentCount == 0
      do {
        // TLS answers of its own accord, to a key update for instance.
        defer { takeAnswers() }
        step = try tls?.read(into: &buffer)
      } catch {
        // The alert that tells the peer why goes out as far as that is possible, but nothing of a request with it.
        if mayAlert { _ = try? flush() }
        throw .tls(error)
      }
      guard answerBytes <= Self.answerBytesMax else { throw .tls(Self.unreadAnswers) }
      switch step {
      case .bytes(let count): return .bytes(count)
      case .closed: return .end
      case .needMoreBytes, nil: break
      }
      // A peer may send what carries no data for as long as it likes.
      if isFed, hasFilledBuffer { return .noPlaintext }
      guard try feedTLS(&ciphertext) else { return .nothing }
      isFed = true
    }
  }

  private mutating func takeAnswers() {
    let before = outbox.count
    tls?.drainOutput(into: &outbox)
    answerBytes += outbox.count - before
  }

  private static var unreadAnswers: TLSError {
    TLSError(
      code: .protocolViolation,
      message: "The server asked for TLS messages (key updates) and doesn't read them; \(answerBytesMax) bytes of "
        + "answers may wait for it. Fix the server.")
  }

  /// Goes on with the TLS handshake; returns whether it is done. Call `flush` behind it.
  ///
  /// It may return before everything that is there was read, so that a peer which sends without end neither keeps the
  /// loop from others nor from the handshake's deadline.
  mutating func handshake(ciphertext: inout [UInt8]) throws(Failure) -> Bool {
    var readCount = 0
    while true {
      do {
        defer { tls?.drainOutput(into: &outbox) }
        switch try tls?.handshake() {
        case .done, nil: return true
        case .needMoreBytes: break
        }
      } catch {
        // The alert that tells the peer why goes out as far as that is possible.
        _ = try? flush()
        throw .tls(error)
      }
      try flush()
      guard readCount < Self.handshakeReadsMax, try feedTLS(&ciphertext) else { return false }
      readCount += 1
    }
  }

  /// Gives back memory that an idle connection doesn't need.
  mutating func releaseIdleMemory() {
    tls?.releaseIdleMemory()
  }

  /// Tells the peer that nothing more will come, as far as that is possible without waiting.
  mutating func sayGoodbye() {
    guard tls != nil, unsentCount == 0 else { return }
    tls?.close()
    tls?.drainOutput(into: &outbox)
    _ = try? flush()
  }

  private mutating func feedTLS(_ ciphertext: inout [UInt8]) throws(Failure) -> Bool {
    hasFilledBuffer = false
    guard let count = try receiveFromSocket(into: &ciphertext, from: 0) else { return false }
    hasFilledBuffer = count == ciphertext.count
    if count == 0 { tls?.receiveEnd() } else { tls?.receive(ciphertext.span.extracting(0..<count).bytes) }
    return true
  }

  private func receiveFromSocket(into buffer: inout [UInt8], from offset: Int) throws(Failure) -> Int? {
    do {
      return try socket.receive(into: &buffer, from: offset)
    } catch {
      throw .system(error)
    }
  }
}
