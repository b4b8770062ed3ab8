// TLSSession: a TLS connection without sockets or clocks. Received bytes enter one memory BIO, and bytes to send leave
// another.

import CLupineOpenSSL

/// A TLS connection without a socket: it reads its input from memory and writes its output to memory. It isn't Sendable, so only
/// one thread may use it at a time.
///
/// After each call, the caller must send the bytes that `drainOutput` returns. This includes calls that threw an error, because the
/// bytes then contain the alert for the peer. Once a call has thrown an error, the session has failed, and every later call throws
/// the same error.
package struct TLSSession: ~Copyable {
  /// The result of a call of `handshake`, which tells the caller what to do next.
  package enum HandshakeStep: Sendable, Hashable {
    /// The handshake needs more bytes from the peer. The caller must send the session's output first, then receive them.
    case needMoreBytes
    /// The handshake has stopped until the configuration's verifier has decided. The caller must take `pendingVerification`, and
    /// pass the verdict to `resolve`.
    case needsVerdict
    /// The handshake is complete. The caller may read and write data, but must still send the session's output, which may contain
    /// the last handshake message.
    case done
  }

  /// The result of one call of `read` on a TLS session.
  package enum ReadStep: Sendable, Hashable {
    /// `read` wrote this number of decrypted bytes to the buffer: at least 1, and at most one record of 16 KiB. Another call may
    /// return more bytes.
    case bytes(Int)
    /// All data that has been received is already read. The caller must receive more bytes from the peer.
    case needMoreBytes
    /// The peer ended the TLS connection with close_notify, so the data before it is complete.
    case closed
  }

  private enum State {
    case handshaking
    /// The handshake has stopped until the configuration's verifier has decided.
    case awaitingVerdict
    case established
    /// The session has queued the close_notify alert for the peer. Data from the peer can still be read.
    case closed
    case failed(TLSError)
  }

  let handle: Handle
  /// The context from which the session was created. The session retains the context, because OpenSSL's callbacks use the objects
  /// that the context owns.
  private let context: TLSContext
  private let attachment: ClientAttachment?
  private var state = State.handshaking
  private var opening = OpeningBytes()
  /// The number of handshake messages that the peer sent between the two most recent reads that returned data.
  package private(set) var handshakeMessageCount = 0
  /// The number of bytes that calls of `read` have added to the output, such as replies to key updates and alerts, since the caller
  /// last drained the output.
  private var answerBytes = 0

  /// Creates a client's session with the server `host`, a name or an IP address, and offers to resume an earlier session. If the
  /// configuration has a `serverName`, the session uses that name in place of `host`.
  ///
  /// An earlier session is resumed only with the same host and port. A session with a proxy is resumed only with a proxy.
  ///
  /// - Throws: `TLSError.Code.configuration` for a host that can't be verified, such as an empty name.
  package init(
    client context: TLSContext, host: String, port: UInt16, isProxy: Bool = false
  ) throws(TLSError) {
    guard let settings = context.client else { preconditionFailure("a client's session needs a client's context") }
    let host = settings.configuration.serverName ?? host
    let name = try PeerName(host: host)
    let attachment = ClientAttachment(host: host, port: port, isProxy: isProxy, settings: settings)
    let handle = try Handle(context)
    try name.apply(to: handle.ssl)
    try attachment.attach(to: handle.ssl)
    if settings.configuration.resumesSessions { settings.sessions.offer(to: handle.ssl, for: attachment) }
    SSL_set_connect_state(handle.ssl)
    self.handle = handle
    self.context = context
    self.attachment = attachment
  }

  /// Creates a session that is neither a client's nor a server's yet. The caller must set the role with OpenSSL before the
  /// handshake. `context` must not be a client's context. Throws only if memory runs out.
  package init(unsided context: TLSContext) throws(TLSError) {
    precondition(context.client == nil, "a client's session needs a host")
    handle = try Handle(context)
    self.context = context
    attachment = nil
  }

  /// OpenSSL's SSL object, which this session owns.
  package var ssl: OpaquePointer { handle.ssl }

  /// The negotiated parameters of the TLS session, or empty values before the handshake is complete.
  package var info: TLSInfo {
    isPastHandshake ? TLSInfo(established: handle.ssl, stapledOCSP: attachment?.staple ?? .notAsked) : .none
  }

  /// The number of encrypted bytes in the session's output. `drainOutput` removes them, except while the verifier's verdict is
  /// pending.
  package var pendingOutputCount: Int { Int(BIO_ctrl_pending(handle.outgoing)) }

  /// Whether the session has received bytes that `read` hasn't returned yet: a record, a part of a record, or plaintext.
  package var hasUnreadInput: Bool {
    // Neither count includes a record header whose body hasn't arrived. In that case, OpenSSL's state is reading the record's
    // body ("RB").
    SSL_has_pending(handle.ssl) == 1 || BIO_ctrl_pending(handle.incoming) > 0
      || String(cString: SSL_rstate_string(handle.ssl)) == "RB"
  }

  /// The total capacity in bytes of the session's two ciphertext buffers. The capacity of a buffer exceeds 128 KiB only while the
  /// buffer isn't empty.
  package var bufferedBytesCapacity: Int { lupine_bio_capacity(handle.incoming) + lupine_bio_capacity(handle.outgoing) }
}

extension TLSSession {
  /// Adds encrypted bytes from the peer to the session's input. The bytes may be split at any position. The next call of
  /// `handshake` or `read` processes them.
  package mutating func receive(_ ciphertext: RawSpan) {
    let isTaken = ciphertext.withUnsafeBytes { bytes in
      opening.record(bytes)
      return fill(handle.incoming, with: bytes)
    }
    if !isTaken, !isFailed { state = .failed(.outOfMemory("\(ciphertext.byteCount) bytes of received data")) }
  }

  /// Records that the peer has closed the TCP connection. The data that was received before can still be read.
  package mutating func receiveEnd() {
    lupine_bio_set_empty_answer(handle.incoming, 0)
  }

  /// Continues the handshake with the received bytes. Throws a `TLSError` if this side refuses the peer or its certificate, or if
  /// the handshake fails for another reason.
  package mutating func handshake() throws(TLSError) -> HandshakeStep {
    switch state {
    case .failed(let error): throw error
    case .closed: throw closedError
    case .established: return .done
    case .awaitingVerdict: return .needsVerdict
    case .handshaking: break
    }
    ERR_clear_error()
    let result = SSL_do_handshake(handle.ssl)
    let cause = SSL_get_error(handle.ssl, result)
    if awaitsVerdict(after: cause) {
      state = .awaitingVerdict
      return .needsVerdict
    }
    switch cause {
    case SSL_ERROR_NONE:
      establish()
      return .done
    case SSL_ERROR_WANT_READ: return .needMoreBytes
    default: throw fail()
    }
  }

  /// The distinguished names in DER of the authorities from which the server accepts client certificates. Nil if the server
  /// requested no client certificate, if the client presented one, or before the handshake is complete. Always nil for a proxy.
  package var requestedAuthorities: [[UInt8]]? { isPastHandshake ? attachment?.requestedAuthorities : nil }

  /// The question that the handshake has for the configuration's verifier. Nil if there is none, or after the verdict.
  package var pendingVerification: PendingVerification? { attachment?.judgement.pending }

  /// Passes the verifier's verdict to the waiting handshake. The next call of `handshake` then continues, or throws a `TLSError`
  /// if the verdict refuses the server.
  package mutating func resolve(_ verdict: Verdict) {
    guard case .awaitingVerdict = state, let attachment, let verification = pendingVerification else { return }
    attachment.judgement = .made(verdict)
    state = .handshaking
    // With TLS 1.3, OpenSSL calls the verification callback again, which applies the verdict.
    guard SSL_version(handle.ssl) < TLS1_3_VERSION else { return }
    guard let refusal = verdict.refusal(afterProblem: verification.evidence.problem, host: attachment.host) else {
      return
    }
    _ = drain(handle.outgoing)
    _ = Self.plaintextRefusal.withUnsafeBytes { fill(handle.outgoing, with: $0) }
    state = .failed(refusal)
  }

  /// Decrypts received data into `buffer`, which must not be empty.
  ///
  /// - Throws: `TLSError.Code.truncated` if the connection ended without close_notify.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> ReadStep {
    precondition(!buffer.isEmpty, "a read needs room for at least one byte")
    if case .failed(let error) = state { throw error }
    precondition(isPastHandshake, "read before the handshake was complete")
    var count = 0
    let queuedBefore = pendingOutputCount
    ERR_clear_error()
    // SAFETY: OpenSSL writes at most `buffer.count` bytes and returns their number.
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

  /// Decrypts received data into `buffer`, which must not be empty, and overwrites its elements. Throws the same errors as
  /// `read(into:)` with a pointer.
  package mutating func read(into buffer: inout [UInt8]) throws(TLSError) -> ReadStep {
    var span = buffer.mutableSpan
    // SAFETY: the pointer is only used inside the closure, and the array's bytes are initialized.
    return try span.withUnsafeMutableBytes { (bytes) throws(TLSError) -> ReadStep in try self.read(into: bytes) }
  }

  /// Encrypts all of `plaintext`, and appends the ciphertext to the session's output. The output grows as needed, so the caller
  /// must limit the amount per call.
  package mutating func write(_ plaintext: RawSpan) throws(TLSError) {
    switch state {
    case .failed(let error): throw error
    case .closed: throw closedError
    case .handshaking, .awaitingVerdict: preconditionFailure("write before the handshake was complete")
    case .established: break
    }
    guard !plaintext.isEmpty else { return }
    ERR_clear_error()
    // SAFETY: OpenSSL reads `bytes.count` bytes and keeps no pointer, because a memory BIO accepts all of them at once.
    let result = plaintext.withUnsafeBytes { bytes in
      var count = 0
      return SSL_write_ex(handle.ssl, bytes.baseAddress, bytes.count, &count)
    }
    guard result == 1 else { throw fail() }
  }

  /// Removes the encrypted bytes that the session has queued for the peer, and appends them to `output`. Appends nothing while the
  /// verifier's verdict is pending, and nothing afterward if the session has ended without a verdict.
  package mutating func drainOutput(into output: inout [UInt8]) {
    answerBytes = 0
    // The output is the reply to a server that isn't trusted yet, so it is held back.
    guard pendingVerification == nil else { return }
    drain(handle.outgoing, into: &output)
  }

  /// Frees the memory of each empty ciphertext buffer that is larger than `TLSLimits.idleBufferBytesMax`. Called when the
  /// connection becomes idle.
  package mutating func releaseIdleMemory() {
    lupine_bio_shrink(handle.incoming, TLSLimits.idleBufferBytesMax)
    lupine_bio_shrink(handle.outgoing, TLSLimits.idleBufferBytesMax)
  }

  /// Queues the close_notify alert for the peer (RFC 8446 §6.1). Afterward, the session throws a `TLSError` with the code
  /// `.closed` for every write, but can still read. Queues nothing before the handshake is complete or after a failure.
  package mutating func queueCloseNotify() {
    switch state {
    case .failed, .closed: return
    case .handshaking, .awaitingVerdict: state = .failed(closedError)
    case .established:
      ERR_clear_error()
      // The result is 0 until the peer's close_notify arrives, for which this side doesn't wait.
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
    case .handshaking, .awaitingVerdict, .failed: false
    }
  }

  private var closedError: TLSError {
    .closed(peer: attachment?.host ?? "the client")
  }

  /// An unencrypted TLS 1.2 record with a fatal handshake_failure alert (RFC 5246 §7.2). OpenSSL sends the same alert when a
  /// verifier refuses the server.
  private static let plaintextRefusal: [UInt8] = [21, 3, 3, 0, 2, 2, 40]

  /// Returns whether the handshake must wait for the certificate verifier's decision. If so, first adds the stapled OCSP response
  /// to the evidence for the verifier. `cause` is the result of SSL_get_error.
  ///
  /// With TLS 1.2, the handshake waits when the client's reply is complete but hasn't been sent. By then, all of the server's
  /// earlier messages have arrived, including any stapled OCSP response.
  private func awaitsVerdict(after cause: Int32) -> Bool {
    guard let attachment, var verification = attachment.judgement.pending else { return false }
    switch cause {
    case SSL_ERROR_WANT_RETRY_VERIFY: return true
    case SSL_ERROR_WANT_READ: guard pendingOutputCount > 0 else { return false }
    default: return false
    }
    verification.evidence.stapledResponse = StapledResponse.bytes(of: handle.ssl)
    attachment.judgement = .pending(verification)
    return true
  }

  private mutating func establish() {
    state = .established
    attachment?.establish(isResumed: SSL_session_reused(handle.ssl) == 1)
    shrinkIncoming()
  }

  /// Creates the error for the OpenSSL call that has just failed, and marks the session as failed.
  private mutating func fail() -> TLSError {
    var error = TLSError.fromQueue(
      FailureContext(
        host: attachment?.host,
        wasEstablished: isPastHandshake,
        opening: opening,
        refusal: attachment?.refusal))
    if case .alert = error.code, !isPastHandshake, pendingVerification == nil {
      // With TLS 1.2, a server that requires a certificate refuses the handshake without one.
      error.requestedAuthorities = attachment?.requestedAuthorities
    }
    return fail(error)
  }

  private mutating func fail(_ error: TLSError) -> TLSError {
    state = .failed(error)
    return error
  }

  /// Throws a `TLSError` with the code `.protocolViolation` and marks the session as failed if the peer has sent too many
  /// handshake messages without application data in between, or messages that require too many bytes of replies. Such messages
  /// cost time and memory, and well-behaved peers send few of them.
  private mutating func refuseFlood() throws(TLSError) {
    let messages = attachment?.messagesSinceData ?? 0
    guard messages > TLSLimits.handshakeMessagesBetweenDataMax || answerBytes > TLSLimits.answerBytesMax else { return }
    throw fail(
      TLSError(
        code: .protocolViolation,
        message:
          "\(attachment?.host ?? "The client") sent \(messages) TLS handshake messages (tickets, key updates or requests "
          + "to renegotiate) without data, which required replies of \(answerBytes) bytes. At most "
          + "\(TLSLimits.handshakeMessagesBetweenDataMax) messages and \(TLSLimits.answerBytesMax) bytes are allowed. "
          + "Fix the peer."
      ))
  }

  /// Frees the buffer for received ciphertext if it is empty and large. OpenSSL itself would keep the buffer's memory until the
  /// connection ends.
  private func shrinkIncoming() {
    lupine_bio_shrink(handle.incoming, TLSLimits.emptyBufferBytesMax)
  }
}

/// OpenSSL's SSL object with its two memory BIOs: one for received ciphertext, and one for ciphertext to send.
struct Handle: ~Copyable {
  let ssl: OpaquePointer
  let incoming: OpaquePointer
  let outgoing: OpaquePointer

  init(_ context: TLSContext) throws(TLSError) {
    ERR_clear_error()
    guard let ssl = SSL_new(context.pointer) else { throw .outOfMemory("a session") }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      throw .outOfMemory("buffers of a session")
    }
    // Until `receiveEnd`, an empty buffer means that more bytes may arrive.
    lupine_bio_set_empty_answer(incoming, -1)
    // SAFETY: the SSL takes both references and frees them with itself. The pointers are valid until then.
    SSL_set_bio(ssl, incoming, outgoing)
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
  }

  deinit {
    // Without this call, OpenSSL would make a session that ended without close_notify impossible to resume, which TLS no longer
    // requires (RFC 5246 §7.2.1). After a fatal alert, OpenSSL has already discarded the session.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    // SAFETY: this is the only owner and the type can't be copied, so this runs once.
    SSL_free(ssl)
  }
}
