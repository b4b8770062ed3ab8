// ContextCallbacks: the functions that OpenSSL calls while it executes a call on a session, on the same thread.

import CLupineOpenSSL

/// The settings that all TLS sessions of a client's context (SSL_CTX) share.
final class ClientSettings: Sendable {
  let configuration: TLSConfiguration
  let sessions: TLSSessionStore
  let keyLog: KeyLog?
  let verifiedChains = VerifiedChains()

  init(_ configuration: TLSConfiguration, sessions: TLSSessionStore) throws(TLSError) {
    self.configuration = configuration
    self.sessions = sessions
    if let path = configuration.keyLogFile { keyLog = try KeyLog(path: path) } else { keyLog = nil }
  }
}

/// The state of a client's TLS session that OpenSSL's callbacks read and write. The `TLSSession` owns this object, and OpenSSL's
/// SSL object points to it.
final class ClientAttachment {
  /// The server's name or IP address, which the server's certificate must match. The client also sends a name, but not an address,
  /// as SNI.
  let host: String
  let port: UInt16
  /// Whether the TLS session is with a proxy instead of an origin.
  let isProxy: Bool
  let settings: ClientSettings
  /// The error with which the handshake must fail, or nil. A callback sets it when OpenSSL, the check of the stapled OCSP response
  /// or the configuration's verifier refuses the server.
  var refusal: TLSError?
  var staple = TLSInfo.StapledOCSP.notAsked
  /// Whether the configuration's verifier has decided about the server's certificate, or must still decide.
  var judgement = Judgement.none
  /// The distinguished names in DER of the authorities from which the server accepts client certificates. Nil if the server
  /// requested no client certificate, or if the client has one.
  ///
  /// After a resumption, these are the names from the original handshake, because a resumed handshake contains no certificate
  /// request. Always nil for a proxy, because the client presents no certificate to a proxy.
  fileprivate(set) var requestedAuthorities: [[UInt8]]?
  /// The value of `requestedAuthorities` that is stored with the session that the client offers to resume. If the server resumes
  /// the session, it becomes the value of `requestedAuthorities`.
  var offeredAuthorities: [[UInt8]]?
  /// Whether the handshake is complete. From then on, `messagesSinceData` counts handshake messages.
  private(set) var isEstablished = false
  /// The number of handshake messages received since the last application data. 0 until the handshake is complete.
  var messagesSinceData = 0

  init(host: String, port: UInt16, isProxy: Bool, settings: ClientSettings) {
    self.host = host
    self.port = port
    self.isProxy = isProxy
    self.settings = settings
  }

  /// Records that the handshake is complete. If the session was resumed, also sets `requestedAuthorities` and `staple`, because
  /// OpenSSL calls no callback for a resumed session with TLS 1.2.
  func establish(isResumed: Bool) {
    isEstablished = true
    if isResumed { requestedAuthorities = offeredAuthorities }
    if isResumed, settings.configuration.ocspStapling != .ignored { staple = .checkedEarlier }
  }

  /// The ex_data index under which OpenSSL's SSL object stores the pointer to its `ClientAttachment`: 0, which OpenSSL reserves for
  /// applications.
  private static let slot: Int32 = 0

  func attach(to ssl: OpaquePointer) throws(TLSError) {
    guard SSL_set_ex_data(ssl, Self.slot, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
      throw .outOfMemory("data of a session")
    }
  }

  static func attached(to ssl: OpaquePointer?) -> ClientAttachment? {
    // SAFETY: only `attach` sets this index, and the session keeps the object alive until after the last call on its
    // SSL.
    ssl.flatMap { SSL_get_ex_data($0, slot) }.map { Unmanaged<ClientAttachment>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Returns the attachment of the TLS session whose certificate chain OpenSSL is verifying. `store` is OpenSSL's X509_STORE_CTX.
  static func attached(toVerification store: OpaquePointer) -> ClientAttachment? {
    attached(to: session(ofVerification: store))
  }

  /// Returns the SSL object of the TLS session whose certificate chain OpenSSL is verifying. `store` is OpenSSL's X509_STORE_CTX.
  fileprivate static func session(ofVerification store: OpaquePointer) -> OpaquePointer? {
    // SAFETY: OpenSSL stores the SSL of the verification at this index of the store's context.
    X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
  }
}

/// OpenSSL calls this function with its verdict on each certificate of the server's chain. If OpenSSL refuses a certificate, the
/// function records the reason as the `refusal` of the attachment. Returns OpenSSL's verdict unchanged.
let recordRejection: SSL_verify_cb = { verdict, store in
  guard verdict == 0, let store, let attachment = ClientAttachment.attached(toVerification: store) else {
    return verdict
  }
  attachment.refusal = TLSError(CertificateRejection(store), host: attachment.host)
  return verdict
}

/// OpenSSL calls this function instead of verifying the server's chain itself, if the configuration has a verifier. The function
/// verifies the chain with OpenSSL, and then lets the verifier decide. It calls a quick verifier immediately. Any other verifier is
/// called outside of the handshake.
///
/// With TLS 1.3, the handshake stops until the verifier has decided, and OpenSSL then calls this function again. With TLS 1.2, the
/// server's stapled OCSP response arrives after its certificate. Therefore, the handshake continues up to the client's reply, which
/// the session holds back until the verifier has decided.
let askVerifier: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
  guard let store, let attachment = ClientAttachment.attached(toVerification: store),
    let verifier = attachment.settings.configuration.verifier
  else { return 0 }
  guard let terms = VerificationTerms(of: store) else {
    attachment.refusal = .outOfMemory("verification parameters")
    return 0
  }
  let ssl = ClientAttachment.session(ofVerification: store)
  let evidence = evidence(of: store, attachment, ssl, terms)
  let verdict: Verdict
  if case .made(let made) = attachment.judgement {
    verdict = made
  } else if verifier.isQuick(attachment.host) {
    verdict = Verdict(verifier, evidence)
  } else {
    attachment.judgement = .pending(PendingVerification(verifier: verifier, evidence: evidence))
    // The recorded refusal is part of the evidence. It takes effect only if the verifier agrees.
    attachment.refusal = nil
    ERR_clear_error()
    X509_STORE_CTX_set_error(store, X509_V_OK)
    if SSL_version(ssl) >= TLS1_3_VERSION { lupine_ssl_retry_verify(ssl) }
    return 1
  }
  attachment.refusal = verdict.refusal(afterProblem: evidence.problem, host: attachment.host)
  guard let refusal = attachment.refusal else {
    ERR_clear_error()
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
  }
  // OpenSSL's own error selects a more specific alert.
  if refusal.code == .refusedByVerifier { X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION) }
  return 0
}

/// Verifies the server's chain with OpenSSL. Returns OpenSSL's result together with the other data from which the verifier decides,
/// such as the received chain and the stapled OCSP response.
private func evidence(
  of store: OpaquePointer, _ attachment: ClientAttachment, _ ssl: OpaquePointer?, _ terms: VerificationTerms
) -> CertificateVerifier.Evidence {
  let isGood = X509_verify_cert(store) == 1
  let sent = certificates(in: X509_STORE_CTX_get0_untrusted(store))
  // SAFETY: both stacks belong to the store's context, which is alive during this call.
  return CertificateVerifier.Evidence(
    host: attachment.host,
    port: attachment.port,
    isProxy: attachment.isProxy,
    sentChain: sent.map(\.der),
    builtChain: certificates(in: X509_STORE_CTX_get0_chain(store)).map(\.der),
    problem: isGood
      ? nil
      : attachment.refusal
        ?? .verificationFailed(
          X509_STORE_CTX_get_error(store), host: attachment.host),
    stapledResponse: ssl.flatMap(StapledResponse.bytes),
    certificates: sent, terms: terms)
}

/// OpenSSL calls this function when the server requests a client certificate and the configuration has no identity. The handshake
/// continues without a certificate, because most servers that request one don't require it.
let noteIdentityRequest: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
  guard let ssl, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  // A proxy's certificate request isn't recorded. The caller would mistake it for the origin's request, and choose the certificate
  // that is meant for the origin.
  if !attachment.isProxy { attachment.requestedAuthorities = authorities(requestedIn: ssl) }
  return 1
}

/// Returns the distinguished names in DER of the authorities that the server's CertificateRequest lists. Returns at most
/// `TLSLimits.authoritiesMax` names.
private func authorities(requestedIn ssl: OpaquePointer) -> [[UInt8]] {
  // SAFETY: the stack and its names belong to the session.
  elements(of: SSL_get0_peer_CA_list(ssl)).prefix(TLSLimits.authoritiesMax).map {
    der(of: OpaquePointer($0), i2d_X509_NAME)
  }
}

/// OpenSSL calls this function after it has verified the server's chain. The function checks the stapled OCSP response. It returns
/// 1 to continue the handshake, or 0 to end it with an alert.
let checkStaple: lupine_staple_callback = { ssl, _ in
  guard let ssl, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  let configuration = attachment.settings.configuration
  // If the setting is `.ignored`, the response was requested only for the verifier.
  guard configuration.ocspStapling != .ignored else { return 1 }
  do throws(TLSError) {
    attachment.staple = try StapledResponse.check(
      ssl, host: attachment.host, isRequired: configuration.ocspStapling == .required)
    ERR_clear_error()
    return 1
  } catch {
    attachment.refusal = error
    return 0
  }
}

/// OpenSSL calls this function with each session that the server allows the client to resume. The function puts the session into
/// the session store. It returns 1 if the store has taken over OpenSSL's reference to the session, and 0 otherwise.
let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
  guard let session, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  // With TLS 1.2, this is called before the attachment knows whether the session was resumed.
  let isResumed = SSL_session_reused(ssl) == 1
  attachment.settings.sessions.keep(
    session, for: attachment,
    requestedAuthorities: isResumed ? attachment.offeredAuthorities : attachment.requestedAuthorities)
  return 1
}

/// OpenSSL calls this function with each line for the key log, which contains a TLS secret. The function appends the line to the
/// configuration's key log file.
let logKey: SSL_CTX_keylog_cb_func = { ssl, line in
  guard let line, let keyLog = ClientAttachment.attached(to: ssl)?.settings.keyLog else { return }
  keyLog.append(line)
}

/// OpenSSL calls this function with each TLS message that it sends or receives. Once the handshake is complete, the function counts
/// the handshake messages from the peer.
let countMessages:
  @convention(c) (Int32, Int32, Int32, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
    isSent, _, contentType, _, _, ssl, _ in
    guard contentType == SSL3_RT_HANDSHAKE, isSent == 0, let attachment = ClientAttachment.attached(to: ssl) else {
      return
    }
    if attachment.isEstablished { attachment.messagesSinceData += 1 }
  }
