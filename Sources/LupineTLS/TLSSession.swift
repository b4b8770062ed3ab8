// One TLS connection as bytes in and bytes out. It knows no socket and no clock: what the peer sent goes into one memory
// BIO, what is to be sent comes out of the other.

import CLupineOpenSSL

/// A TLS connection over memory. Not Sendable: one thread at a time.
///
/// After each call, send what `drainOutput` gives; after one that threw, too, since the alert for the peer is in it.
/// A session whose call threw is over: every later call throws the same error.
package struct TLSSession: ~Copyable {
  /// How far a handshake got.
  package enum HandshakeStep: Sendable, Hashable {
    /// Send the output, then feed what the peer answers.
    case needMoreBytes
    /// Data may be read and written. The output may still hold the last message, which must be sent.
    case done
  }

  /// What a read gave.
  package enum ReadStep: Sendable, Hashable {
    /// So many bytes of the buffer are filled: at least 1, at most one record of 16 KiB. There may be more.
    case bytes(Int)
    /// Everything received so far is read.
    case needMoreBytes
    /// The peer sent close_notify: what came before it is complete.
    case closed
  }

  private enum State {
    case handshaking
    case established
    /// close_notify is queued; the peer may still be read.
    case closed
    case failed(TLSError)
  }

  let handle: Handle
  /// Holds the callbacks' arguments as well.
  private let context: TLSContext
  private let attachment: ClientAttachment?
  private var state = State.handshaking
  private var opening = OpeningBytes()
  /// How many handshake messages came in front of the data that was read last.
  package private(set) var handshakeMessageCount = 0
  /// Bytes that reading added to the output since it was drained: key updates, alerts.
  private var answerBytes = 0

  /// Starts a client's session to a host name or an IP address, and offers to resume an earlier one.
  ///
  /// The port tells servers of one name apart whose sessions may be resumed. Throws `TLSError.Code.configuration` for a
  /// name that can't be verified, such as an empty one.
  package init(client context: TLSContext, host: String, port: UInt16) throws(TLSError) {
    guard case .client(let settings) = context.role else {
      preconditionFailure("a client's session needs a client's context")
    }
    let host = settings.configuration.serverName ?? host
    let name = try PeerName(host: host)
    let attachment = ClientAttachment(host: host, port: port, settings: settings)
    let handle = try Handle(context)
    try name.apply(to: handle.ssl)
    try attachment.attach(to: handle.ssl)
    if settings.configuration.resumesSessions { settings.sessions.offer(to: handle.ssl, for: attachment) }
    SSL_set_connect_state(handle.ssl)
    self.handle = handle
    self.context = context
    self.attachment = attachment
  }

  /// Starts a server's session. Throws only if memory ran out.
  package init(server context: TLSContext) throws(TLSError) {
    guard case .server = context.role else { preconditionFailure("a server's session needs a server's context") }
    handle = try Handle(context)
    self.context = context
    attachment = nil
    SSL_set_accept_state(handle.ssl)
  }

  /// What was agreed on; `TLSInfo`'s empty values until the handshake is done.
  package var info: TLSInfo {
    switch state {
    case .established, .closed: TLSInfo(established: handle.ssl, stapledOCSP: attachment?.staple ?? .notAsked)
    case .handshaking, .failed: .none
    }
  }

  /// Bytes that `drainOutput` would give.
  package var pendingOutputCount: Int { Int(BIO_ctrl_pending(handle.outgoing)) }

  /// Whether bytes of the peer's are held that no read has looked at yet: a record, a part of one, or its plaintext.
  package var hasUnreadInput: Bool {
    // A record's header by itself counts as pending for neither; OpenSSL is reading the record's body ("RB") then.
    SSL_has_pending(handle.ssl) == 1 || BIO_ctrl_pending(handle.incoming) > 0
      || String(cString: SSL_rstate_string(handle.ssl)) == "RB"
  }

  /// Bytes of memory that the buffers of ciphertext hold; at most 128 KiB each if they are empty.
  package var bufferedBytesCapacity: Int { lupine_bio_capacity(handle.incoming) + lupine_bio_capacity(handle.outgoing) }
}

extension TLSSession {
  /// Takes bytes from the peer, any number and cut anywhere; a later handshake or read looks at them.
  package mutating func receive(_ ciphertext: RawSpan) {
    let isTaken = ciphertext.withUnsafeBytes { bytes in
      opening.record(bytes)
      return fill(handle.incoming, with: bytes)
    }
    if !isTaken, !isFailed { state = .failed(.outOfMemory("\(ciphertext.byteCount) bytes of received data")) }
  }

  /// Says that the peer closed the connection: what was received can still be read.
  package mutating func receiveEnd() {
    lupine_bio_set_empty_answer(handle.incoming, 0)
  }

  /// Goes on with the handshake as far as the received bytes allow. Throws why the peer, or its certificate, was refused.
  package mutating func handshake() throws(TLSError) -> HandshakeStep {
    switch state {
    case .failed(let error): throw error
    case .closed: throw closedError
    case .established: return .done
    case .handshaking: break
    }
    ERR_clear_error()
    let result = SSL_do_handshake(handle.ssl)
    if result == 1 {
      state = .established
      attachment?.establish(isResumed: SSL_session_reused(handle.ssl) == 1)
      shrinkIncoming()
      return .done
    }
    guard SSL_get_error(handle.ssl, result) == SSL_ERROR_WANT_READ else { throw fail() }
    return .needMoreBytes
  }

  /// Decrypts into the buffer, which must not be empty.
  ///
  /// Throws `TLSError.Code.truncated` if the connection ended without close_notify.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> ReadStep {
    precondition(!buffer.isEmpty, "a read needs room for at least a byte")
    if case .failed(let error) = state { throw error }
    precondition(isPastHandshake, "read before the handshake was done")
    var count = 0
    let queuedBefore = pendingOutputCount
    ERR_clear_error()
    // SAFETY: OpenSSL writes at most `buffer.count` bytes, and says how many.
    let result = SSL_read_ex(handle.ssl, buffer.baseAddress, buffer.count, &count)
    answerBytes += pendingOutputCount - queuedBefore
    try refuseFlood()
    if result == 1 {
      handshakeMessageCount = attachment?.messagesSinceData ?? 0
      attachment?.messagesSinceData = 0
      return .bytes(count)
    }
    switch SSL_get_error(handle.ssl, result) {
    case SSL_ERROR_WANT_READ:
      shrinkIncoming()
      return .needMoreBytes
    case SSL_ERROR_ZERO_RETURN: return .closed
    default: throw fail()
    }
  }

  /// Encrypts all of the bytes into the output, which grows as needed; the caller limits how much it gives at once.
  package mutating func write(_ plaintext: RawSpan) throws(TLSError) {
    switch state {
    case .failed(let error): throw error
    case .closed: throw closedError
    case .handshaking: preconditionFailure("write before the handshake was done")
    case .established: break
    }
    guard !plaintext.isEmpty else { return }
    ERR_clear_error()
    // SAFETY: OpenSSL reads `bytes.count` bytes and keeps no pointer: a memory BIO takes all of them at once.
    let result = plaintext.withUnsafeBytes { bytes in
      var count = 0
      return SSL_write_ex(handle.ssl, bytes.baseAddress, bytes.count, &count)
    }
    guard result == 1 else { throw fail() }
  }

  /// Appends what is to be sent to the peer, and forgets it.
  package mutating func drainOutput(into output: inout [UInt8]) {
    answerBytes = 0
    drain(handle.outgoing, into: &output)
  }

  /// Gives back the memory of empty buffers; for a connection that nothing is expected on for now.
  package mutating func releaseIdleMemory() {
    lupine_bio_shrink(handle.incoming, TLSLimits.idleBufferBytesMax)
    lupine_bio_shrink(handle.outgoing, TLSLimits.idleBufferBytesMax)
  }

  /// Queues close_notify (RFC 8446 §6.1): no more is written, but reading may go on. Before the handshake is done, and
  /// after a failure, there is nothing to say.
  package mutating func close() {
    switch state {
    case .failed, .closed: return
    case .handshaking: state = .failed(closedError)
    case .established:
      ERR_clear_error()
      // Answers 0 until the peer's own close_notify came, which nobody has to wait for.
      SSL_shutdown(handle.ssl)
      ERR_clear_error()
      state = .closed
    }
  }
}

extension TLSSession {
  private var isFailed: Bool {
    if case .failed = state { true } else { false }
  }

  private var isPastHandshake: Bool {
    switch state {
    case .established, .closed: true
    case .handshaking, .failed: false
    }
  }

  private var closedError: TLSError {
    TLSError(
      code: .closed, message: "The TLS session with \(attachment?.host ?? "the client") was closed by this side.")
  }

  /// Reads why the call just now failed, and ends the session.
  private mutating func fail() -> TLSError {
    let error = TLSError.fromQueue(
      FailureContext(
        host: attachment?.host,
        wasEstablished: isPastHandshake,
        opening: opening,
        refusal: attachment?.refusal))
    state = .failed(error)
    return error
  }

  /// Messages that carry no data cost time and memory; a peer that means well sends few of them.
  private mutating func refuseFlood() throws(TLSError) {
    let messages = attachment?.messagesSinceData ?? 0
    guard messages > TLSLimits.handshakeMessagesBetweenDataMax || answerBytes > TLSLimits.answerBytesMax else { return }
    let error = TLSError(
      code: .protocolViolation,
      message:
        "\(attachment?.host ?? "The client") sent \(messages) TLS handshake messages (tickets, key updates or requests "
        + "to renegotiate) without data, with answers of \(answerBytes) bytes; \(TLSLimits.handshakeMessagesBetweenDataMax) "
        + "messages and \(TLSLimits.answerBytesMax) bytes are allowed. Fix the peer.")
    state = .failed(error)
    throw error
  }

  /// What arrives together may be large; OpenSSL alone would keep the room for it until the connection ends.
  private func shrinkIncoming() {
    lupine_bio_shrink(handle.incoming, TLSLimits.emptyBufferBytesMax)
  }
}

/// An SSL with its two memory BIOs.
struct Handle: ~Copyable {
  let ssl: OpaquePointer
  let incoming: OpaquePointer
  let outgoing: OpaquePointer

  init(_ context: TLSContext) throws(TLSError) {
    ERR_clear_error()
    guard let ssl = SSL_new(context.pointer) else { throw .outOfMemory("a session") }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      throw .outOfMemory("a session's buffers")
    }
    // An empty buffer means that more may come, until `receiveEnd`.
    lupine_bio_set_empty_answer(incoming, -1)
    // SAFETY: the SSL takes both references, and frees them with itself; the pointers stay valid until then.
    SSL_set_bio(ssl, incoming, outgoing)
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
  }

  deinit {
    // OpenSSL takes a session without close_notify for one that must not be resumed, which TLS no longer asks for
    // (RFC 5246 §7.2.1); after a fatal alert it has forgotten the session already.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    // SAFETY: the only owner, and the type can't be copied, so that this runs once.
    SSL_free(ssl)
  }
}
