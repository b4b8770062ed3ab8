// ContextCallbacks: the functions that OpenSSL calls during a call on a session, on the thread of that call.

import CLupineOpenSSL

/// The settings that all sessions of a client's context share.
final class ClientSettings: Sendable {
  let configuration: TLSConfiguration
  let sessions: TLSSessionStore
  let keyLog: KeyLog?

  init(_ configuration: TLSConfiguration, sessions: TLSSessionStore) throws(TLSError) {
    self.configuration = configuration
    self.sessions = sessions
    if let path = configuration.keyLogFile { keyLog = try KeyLog(path: path) } else { keyLog = nil }
  }
}

/// The state of a client's session that the callbacks read and write. The session owns it, and the SSL points to it.
final class ClientAttachment {
  /// The name that is sent as SNI and verified.
  let host: String
  let port: UInt16
  let settings: ClientSettings
  /// The error with which the handshake must fail, or nil. It is set when OpenSSL's verification, the check of the OCSP response
  /// or the configuration's verifier refuses the server.
  var refusal: TLSError?
  var staple = TLSInfo.StapledOCSP.notAsked
  /// Whether the handshake is complete. Afterward, the session counts handshake messages.
  private(set) var isEstablished = false
  /// The number of handshake messages since the last application data.
  var messagesSinceData = 0

  init(host: String, port: UInt16, settings: ClientSettings) {
    self.host = host
    self.port = port
    self.settings = settings
  }

  /// Records that the handshake is complete. Also sets `staple` if the session was resumed, because OpenSSL calls no callback for
  /// a resumed session with TLS 1.2.
  func establish(isResumed: Bool) {
    isEstablished = true
    if isResumed, settings.configuration.ocspStapling != .ignored { staple = .checkedEarlier }
  }

  /// The ex_data index that OpenSSL reserves for applications.
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

  /// Returns the attachment of the session whose chain is being verified.
  fileprivate static func attached(toVerification store: OpaquePointer) -> ClientAttachment? {
    // SAFETY: OpenSSL stores the SSL of the verification at this index of the store's context.
    attached(
      to: X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) })
  }
}

/// Records why OpenSSL refuses a certificate, and returns OpenSSL's verdict unchanged.
let recordRejection: SSL_verify_cb = { verdict, store in
  guard verdict == 0, let store, let attachment = ClientAttachment.attached(toVerification: store) else {
    return verdict
  }
  attachment.refusal = TLSError(CertificateRejection(store), host: attachment.host)
  return verdict
}

/// Verifies the chain, then lets the configuration's verifier decide.
let askVerifier: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
  guard let store, let attachment = ClientAttachment.attached(toVerification: store),
    let verifier = attachment.settings.configuration.verifier
  else { return 0 }
  guard let terms = VerificationTerms(of: store) else {
    attachment.refusal = .outOfMemory("verification parameters")
    return 0
  }
  let isGood = X509_verify_cert(store) == 1
  let sent = certificates(in: X509_STORE_CTX_get0_untrusted(store))
  // SAFETY: both stacks belong to the store's context, which is alive during this call.
  let evidence = CertificateVerifier.Evidence(
    host: attachment.host,
    sentChain: sent.map(\.der),
    builtChain: certificates(in: X509_STORE_CTX_get0_chain(store)).map(\.der),
    problem: isGood
      ? nil
      : attachment.refusal
        ?? .verificationFailed(
          X509_STORE_CTX_get_error(store), host: attachment.host),
    certificates: sent, terms: terms)
  let decision: CertificateVerifier.Decision
  do {
    decision = try verifier.decide(evidence)
  } catch {
    attachment.refusal = .refusedByVerifier(host: attachment.host, reason: "\(error)", error: error)
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return 0
  }
  switch decision {
  case .asFound:
    attachment.refusal = evidence.problem
    return isGood ? 1 : 0
  case .accept:
    attachment.refusal = nil
    ERR_clear_error()
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
  case .refuse(let reason):
    attachment.refusal = .refusedByVerifier(host: attachment.host, reason: reason)
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return 0
  }
}

/// Checks the stapled OCSP response after the chain is verified. Returning 0 ends the handshake with an alert.
let checkStaple: lupine_staple_callback = { ssl, _ in
  guard let ssl, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  do throws(TLSError) {
    attachment.staple = try StapledResponse.check(
      ssl, host: attachment.host, isRequired: attachment.settings.configuration.ocspStapling == .required)
    ERR_clear_error()
    return 1
  } catch {
    attachment.refusal = error
    return 0
  }
}

/// Stores a session that the server offers to resume. Returning 1 takes ownership of the reference.
let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
  guard let session, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  attachment.settings.sessions.keep(session, for: attachment)
  return 1
}

/// Appends a secret to the configuration's key log file.
let logKey: SSL_CTX_keylog_cb_func = { ssl, line in
  guard let line, let keyLog = ClientAttachment.attached(to: ssl)?.settings.keyLog else { return }
  keyLog.append(line)
}

/// Counts the handshake messages received after the handshake.
let countMessages:
  @convention(c) (Int32, Int32, Int32, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
    isSent, _, contentType, _, _, ssl, _ in
    guard contentType == SSL3_RT_HANDSHAKE, isSent == 0, let attachment = ClientAttachment.attached(to: ssl) else {
      return
    }
    if attachment.isEstablished { attachment.messagesSinceData += 1 }
  }
