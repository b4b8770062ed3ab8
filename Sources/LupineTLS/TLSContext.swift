// What sessions with the same settings share: OpenSSL's SSL_CTX, configured once and never changed after.

import CLupineOpenSSL

/// One per configuration. Safe to use from several threads; loading the trust roots takes milliseconds, so keep it.
package final class TLSContext: Sendable {
  enum Role: Sendable {
    case client(ClientSettings)
    /// The callbacks' argument, which must live as long as the context.
    case server(ServerAnswers)
  }

  // SAFETY: OpenSSL counts an SSL_CTX's references atomically, and allows several threads to make sessions from one
  // that nobody configures any more; `init` is the only place that does.
  nonisolated(unsafe) let pointer: OpaquePointer
  let role: Role

  /// Makes the context of clients, which resume what `sessions` holds. Throws `TLSError.Code.configuration` for settings
  /// that can't be used, such as trust roots that can't be read.
  package init(client configuration: TLSConfiguration, sessions: TLSSessionStore = TLSSessionStore()) throws(TLSError) {
    let context = try Self.make(
      TLS_client_method(), from: configuration.minimumVersion, upTo: configuration.maximumVersion)
    try Self.verify(configuration, context.pointer)
    try Self.restrictCiphers(configuration, context.pointer)
    if let identity = configuration.identity { try Self.use(identity, context.pointer) }
    try Self.checkServerName(configuration.serverName)
    let offered = try Self.encode(configuration.applicationProtocols)
    // Alone among its siblings, this call answers 0 for success.
    if !offered.isEmpty, SSL_CTX_set_alpn_protos(context.pointer, offered, UInt32(offered.count)) != 0 {
      throw .configurationFromQueue("The application protocols can't be set.")
    }
    let settings = try ClientSettings(configuration, sessions: sessions)
    if settings.keyLog != nil { SSL_CTX_set_keylog_callback(context.pointer, logKey) }
    lupine_ctx_limit_certificate_bytes(context.pointer, TLSLimits.certificateChainBytesMax)
    SSL_CTX_set_msg_callback(context.pointer, countMessages)
    if configuration.resumesSessions {
      lupine_ctx_hand_over_client_sessions(context.pointer)
      SSL_CTX_sess_set_new_cb(context.pointer, keepSession)
    }
    pointer = Self.retained(context.pointer)
    role = .client(settings)
  }

  /// Makes the context of servers, for the origin that tests and the demo talk to. Further certificates of the text
  /// are sent as the chain. With `clientAuthorityPEM`, clients must show a certificate of that authority's;
  /// `stapledResponse` is an OCSP response in DER, sent to clients that ask for one.
  ///
  /// Throws `TLSError.Code.configuration` if certificate and key can't be used together.
  package init(
    serverCertificatePEM: [UInt8],
    privateKeyPEM: [UInt8],
    applicationProtocols: [String] = ["http/1.1"],
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3,
    clientAuthorityPEM: [UInt8]? = nil,
    stapledResponse: [UInt8] = []
  ) throws(TLSError) {
    let context = try Self.make(TLS_server_method(), from: versions.lowerBound, upTo: versions.upperBound)
    try Self.use(
      TLSIdentity(certificatePEM: serverCertificatePEM, privateKeyPEM: privateKeyPEM), context.pointer)
    if let clientAuthorityPEM { try Self.demandClientCertificate(from: clientAuthorityPEM, context.pointer) }
    let answers = ServerAnswers(protocols: try Self.encode(applicationProtocols), staple: stapledResponse)
    // SAFETY: `answers` lives as long as this object, which every session of the context holds.
    let argument = Unmanaged.passUnretained(answers).toOpaque()
    if !answers.protocols.isEmpty { SSL_CTX_set_alpn_select_cb(context.pointer, chooseProtocol, argument) }
    if !answers.staple.isEmpty { lupine_ctx_serve_staple(context.pointer, serveStaple, argument) }
    pointer = Self.retained(context.pointer)
    role = .server(answers)
  }

  deinit {
    // SAFETY: gives back the reference that `init` took; sessions have their own.
    SSL_CTX_free(pointer)
  }
}

extension TLSContext {
  private static func make(
    _ method: OpaquePointer?, from minimum: TLSVersion, upTo maximum: TLSVersion?
  ) throws(TLSError) -> Owned {
    if let maximum, maximum < minimum {
      throw .configuration("minimumVersion is newer than maximumVersion, which leaves no TLS version. Swap them.")
    }
    OpenSSL.setUp()
    ERR_clear_error()
    guard let context = Owned(SSL_CTX_new(method), freeing: SSL_CTX_free) else {
      throw .configurationFromQueue("OpenSSL made no context; check its configuration file.")
    }
    lupine_ctx_forbid_compression_and_renegotiation(context.pointer)
    lupine_ctx_set_modes(context.pointer)
    guard lupine_ctx_set_minimum_version(context.pointer, Int32(minimum.rawValue)) == 1,
      lupine_ctx_set_maximum_version(context.pointer, maximum.map { Int32($0.rawValue) } ?? 0) == 1
    else { throw .configurationFromQueue("OpenSSL was built without the TLS versions that are asked for.") }
    return context
  }

  /// The context outlives the local owner, which gives its reference back also when `init` throws.
  private static func retained(_ context: OpaquePointer) -> OpaquePointer {
    SSL_CTX_up_ref(context)
    return context
  }

  private static func verify(_ configuration: TLSConfiguration, _ context: OpaquePointer) throws(TLSError) {
    guard configuration.verification == .full else {
      // Without a verified chain there is nothing to ask a verifier or an OCSP response about.
      guard configuration.verifier == nil, configuration.ocspStapling == .ignored else {
        throw .configuration(
          "verifier and ocspStapling need verification to be .full: with .none nobody would look at them. A verifier "
            + "may accept what OpenSSL refuses.")
      }
      SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
      return
    }
    try trust(configuration.trustRoots, context)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, recordRejection)
    if configuration.verifier != nil { SSL_CTX_set_cert_verify_callback(context, askVerifier, nil) }
    if configuration.ocspStapling != .ignored { lupine_ctx_ask_for_staple(context, checkStaple) }
  }

  private static func checkServerName(_ name: String?) throws(TLSError) {
    if let name { _ = try PeerName(host: name) }
  }

  /// The certificate with its chain and its key.
  private static func use(_ identity: TLSIdentity, _ context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: each of these calls takes a reference of its own.
    let isUsed =
      SSL_CTX_use_certificate(context, identity.material.leaf.pointer) == 1
      && identity.material.issuers.allSatisfy { lupine_ctx_add_chain_certificate(context, $0.pointer) == 1 }
      && SSL_CTX_use_PrivateKey(context, identity.material.key) == 1
    guard isUsed else {
      throw .configurationFromQueue("The certificate \(identity.material.leaf.subject) or its key can't be used.")
    }
  }

  private static func demandClientCertificate(
    from authorityPEM: [UInt8], _ context: OpaquePointer
  ) throws(TLSError) {
    try trust([.pem(authorityPEM)], context)
    _ = try PEM.forEachCertificate(in: authorityPEM) { authority throws(TLSError) in
      // SAFETY: OpenSSL copies the name.
      guard SSL_CTX_add_client_CA(context, authority) == 1 else {
        throw .configurationFromQueue("The clients' authority can't be named.")
      }
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    // OpenSSL resumes sessions with client certificates only where a context says whose they are.
    let name = Array("lupine".utf8)
    SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
  }

  /// protocol_name_list: each name after its length in one byte (RFC 7301 §3.1).
  private static func encode(_ protocols: [String]) throws(TLSError) -> [UInt8] {
    var encoded: [UInt8] = []
    for name in protocols {
      guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
        throw .configuration("An application protocol's name must have 1 to 255 bytes, not \(name.utf8.count).")
      }
      encoded.append(count)
      encoded.append(contentsOf: name.utf8)
    }
    return encoded
  }
}
