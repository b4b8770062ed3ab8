// Transport: nonblocking I/O with a peer, with or without TLS.

internal import LupineReactor
internal import LupineTLS

/// A connected socket, the bytes queued for it and, if the connection uses TLS, the TLS session.
struct Transport: ~Copyable {
  enum Received: Equatable {
    /// Plaintext was received and written to the buffer. The associated value is its length in bytes.
    case bytes(Int)
    /// No bytes are available at present.
    case nothing
    /// A read that filled the buffer with ciphertext yielded no plaintext. More ciphertext may be available.
    case noPlaintext
    /// The peer has closed its sending side. With TLS, the peer has sent a close_notify alert.
    case end
  }

  /// The maximum number of reads of 64 KiB that a TLS handshake makes in one iteration of the loop: 4, enough for a certificate
  /// chain of 100 KiB and the other messages.
  private static let handshakeReadsMax = 4
  /// The maximum number of unsent bytes that TLS has produced in reply to the peer's messages: 16 KiB, the replies to 600 key
  /// updates. Without the limit, a peer that doesn't read the replies could fill the memory. Regular servers request one key update
  /// in 2^24 records.
  private static let answerBytesMax = 16 * 1024

  let socket: any StreamSocket
  private var tls: TLSSession?
  private var outbox: [UInt8] = []  // The bytes for the socket, encrypted with TLS.
  private var sentCount = 0
  /// Whether the latest read of ciphertext filled its buffer, so that the kernel may hold more ciphertext.
  private var hasFilledBuffer = false
  /// The number of bytes that TLS has produced in reply to the peer's messages since the outbox was last empty.
  private var answerBytes = 0

  init(_ socket: any StreamSocket, tls: consuming TLSSession?) {
    self.socket = socket
    self.tls = tls
  }

  /// The number of queued bytes that haven't been sent.
  var unsentCount: Int { outbox.count - sentCount }

  /// Whether the transport uses TLS.
  var isEncrypted: Bool { tls != nil }

  /// Whether the TLS session holds received records, or part of a record, that haven't been decrypted yet.
  var hasUnreadInput: Bool {
    switch tls {
    case .some(let session): session.hasUnreadInput
    case .none: false
    }
  }

  /// Whether the socket may hold received bytes for which the poller reports no event.
  var socketMayHoldMore: Bool { socket.mayHoldMore }

  /// Whether the TLS session, the socket or the kernel may hold received bytes for which the poller reports no event.
  var mayHoldPlaintext: Bool { hasUnreadInput || hasFilledBuffer || socketMayHoldMore }

  /// The number of TLS handshake messages, such as key updates, that the peer sent before the most recently received plaintext.
  var handshakeMessageCount: Int {
    switch tls {
    case .some(let session): session.handshakeMessageCount
    case .none: 0
    }
  }

  /// Whether the kernel can send a file directly now: the transport has no TLS and no unsent bytes.
  var canSendFiles: Bool { !isEncrypted && unsentCount == 0 }

  /// The DER-encoded names of the certificate authorities from which the server accepts client certificates. Nil unless the server
  /// requested a client certificate and the client presented none.
  var requestedAuthorities: [[UInt8]]? {
    switch tls {
    case .some(let session): session.requestedAuthorities
    case .none: nil
    }
  }

  /// The negotiated TLS parameters, or nil if the transport doesn't use TLS.
  var tlsInfo: TLSInfo? {
    switch tls {
    case .some(let session): session.info
    case .none: nil
    }
  }

  /// Queues plaintext for sending. Encrypts it if the transport uses TLS.
  mutating func queue(_ bytes: consuming [UInt8]) throws(Failure) {
    if sentCount > 0 {
      // The sent bytes are removed, because a long body would otherwise accumulate here.
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

  /// Sends as many of the queued bytes as the kernel accepts. Returns the number of bytes that remain unsent.
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
    // Replaced rather than emptied in place, because without TLS the array shares its memory with the queued request.
    outbox = []
    sentCount = 0
    answerBytes = 0
    return 0
  }

  /// Starts TLS on a connection that hasn't used it. `received` contains the bytes that have arrived so far but that nobody has
  /// read. They count as the peer's first bytes of TLS.
  mutating func startTLS(_ session: consuming TLSSession, received: [UInt8]) {
    precondition(!isEncrypted && unsentCount == 0, "TLS starts once, after all bytes in the clear")
    tls = consume session
    if !received.isEmpty { tls?.receive(received.span.bytes) }
  }

  /// Ends the sending direction after all queued bytes: with a TLS close_notify alert if the transport uses TLS, then with the
  /// socket's end. Returns false if the kernel doesn't accept all bytes now. Then call this again when the socket is writable.
  mutating func endSending() throws(Failure) -> Bool {
    tls?.queueCloseNotify()
    tls?.drainOutput(into: &outbox)
    guard try flush() == 0 else { return false }
    do {
      try socket.endSending()
    } catch {
      throw .system(error)
    }
    return true
  }

  /// Receives bytes from the peer, decrypts them if the transport uses TLS, and writes the plaintext to `buffer`. Without TLS, the
  /// bytes are written from `offset` on. `ciphertext` is a buffer for the encrypted bytes.
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
        // TLS produces some messages itself, such as answers to key updates.
        defer { collectAnswers() }
        step = try tls?.read(into: &buffer)
      } catch {
        // Sends the alert that tells the peer the cause, if the kernel accepts it now. If bytes of a request are unsent, the
        // alert isn't sent.
        if mayAlert { _ = try? flush() }
        throw .tls(error)
      }
      guard answerBytes <= Self.answerBytesMax else { throw .tls(Self.unreadAnswers) }
      switch step {
      case .bytes(let count): return .bytes(count)
      case .closed: return .end
      case .needMoreBytes, nil: break
      }
      // A peer may send an endless sequence of records without data.
      if isFed, hasFilledBuffer { return .noPlaintext }
      guard try feedTLS(&ciphertext) else { return .nothing }
      isFed = true
    }
  }

  private mutating func collectAnswers() {
    let before = outbox.count
    tls?.drainOutput(into: &outbox)
    answerBytes += outbox.count - before
  }

  private static var unreadAnswers: TLSError {
    TLSError(
      code: .protocolViolation,
      message:
        "The server requested TLS messages (key updates) but doesn't read them; at most \(answerBytesMax) bytes of "
        + "replies may be pending. Fix the server.")
  }

  /// The progress of a TLS handshake.
  enum HandshakeProgress {
    case complete
    /// The handshake needs more bytes from the peer.
    case waiting
    /// The verifier must decide about the peer's certificate. Pass its verdict to `resolve`.
    case needsVerdict(PendingVerification)
  }

  /// Continues the TLS handshake. The caller must then call `flush`.
  ///
  /// The method may return before it has read all available bytes, so that a peer that never stops sending blocks neither the
  /// loop nor the handshake's deadline.
  mutating func handshake(ciphertext: inout [UInt8]) throws(Failure) -> HandshakeProgress {
    var readCount = 0
    while true {
      do {
        defer { tls?.drainOutput(into: &outbox) }
        switch try tls?.handshake() {
        case .done, nil: return .complete
        case .needMoreBytes: break
        case .needsVerdict:
          guard let verification = tls?.pendingVerification else { preconditionFailure("no verdict is pending") }
          return .needsVerdict(verification)
        }
      } catch {
        // Sends the alert that tells the peer the cause, if the kernel accepts it now.
        _ = try? flush()
        throw .tls(error)
      }
      try flush()
      guard readCount < Self.handshakeReadsMax, try feedTLS(&ciphertext) else { return .waiting }
      readCount += 1
    }
  }

  /// Passes a verifier's verdict to the TLS handshake, which continues with the next call of `handshake`.
  mutating func resolve(_ verdict: Verdict) { tls?.resolve(verdict) }

  /// Frees the buffers that an idle connection doesn't need.
  mutating func releaseIdleMemory() {
    tls?.releaseIdleMemory()
    socket.releaseIdleMemory()
  }

  /// Sends a TLS close_notify alert, if that is possible without waiting.
  mutating func sendCloseNotify() {
    guard tls != nil, unsentCount == 0 else { return }
    tls?.queueCloseNotify()
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
