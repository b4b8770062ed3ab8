// TLSContext: OpenSSL's SSL_CTX, which sessions with the same settings share. It is configured once and then immutable.

import CLupineOpenSSL

/// An OpenSSL context (SSL_CTX), from which TLS sessions with the same settings are created. It is thread-safe. Contexts are
/// reused, because loading the trust roots takes milliseconds.
package final class TLSContext: Sendable {
  // SAFETY: OpenSSL counts the references of an SSL_CTX atomically and lets several threads create sessions from one
  // that is no longer configured. Only `init` configures it.
  nonisolated(unsafe) let pointer: OpaquePointer
  /// The settings that a client's sessions share. Nil for a context that was created with `init(configured:argument:)`.
  let client: ClientSettings?
  /// An object to which the callbacks of the SSL_CTX may point. The context retains it, so that it lives as long as the SSL_CTX.
  /// Nil in a client's context.
  private let argument: (any AnyObject & Sendable)?

  /// Creates a context for clients. Their connections can resume the TLS sessions in `sessions`, and add new ones to it.
  ///
  /// - Throws: `TLSError.Code.configuration` if a setting can't be used, such as trust roots that can't be read.
  package init(client configuration: TLSConfiguration, sessions: TLSSessionStore = TLSSessionStore()) throws(TLSError) {
    let context = try Self.make(
      TLS_client_method(), from: configuration.minimumVersion, upTo: configuration.maximumVersion)
    try Self.verify(configuration, context.pointer)
    try Self.restrictCiphers(configuration, context.pointer)
    if let identity = configuration.identity {
      try Self.use(identity, context.pointer)
    } else {
      SSL_CTX_set_cert_cb(context.pointer, noteIdentityRequest, nil)
    }
    // Refuses a server name that can't be verified.
    if let name = configuration.serverName { _ = try PeerName(host: name) }
    let offered = try Self.encode(configuration.applicationProtocols)
    // Unlike similar functions of OpenSSL, this function returns 0 for success.
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
    client = settings
    argument = nil
  }

  /// Creates a context from an OpenSSL SSL_CTX that the caller has configured, for example for a server. Clients can't use this
  /// context.
  ///
  /// The callbacks of the SSL_CTX may point to `argument`, because the context retains it.
  package init(configured context: borrowing Owned, argument: some AnyObject & Sendable) {
    pointer = Self.retained(context.pointer)
    client = nil
    self.argument = argument
  }

  deinit {
    // SAFETY: releases the reference that `init` took; sessions have their own references.
    SSL_CTX_free(pointer)
  }
}

extension TLSContext {
  /// Creates an OpenSSL SSL_CTX with the settings that clients and servers have in common. The caller adds the other settings.
  package static func make(
    _ method: OpaquePointer?, from minimum: TLSVersion, upTo maximum: TLSVersion?
  ) throws(TLSError) -> Owned {
    if let maximum, maximum < minimum {
      throw .configuration("minimumVersion is newer than maximumVersion, so no TLS version is allowed. Swap them.")
    }
    let context = try unconfigured(method)
    lupine_ctx_forbid_compression_and_renegotiation(context.pointer)
    lupine_ctx_set_modes(context.pointer)
    guard lupine_ctx_set_minimum_version(context.pointer, Int32(minimum.rawValue)) == 1,
      lupine_ctx_set_maximum_version(context.pointer, maximum.map { Int32($0.rawValue) } ?? 0) == 1
    else { throw .configurationFromQueue("OpenSSL was built without the requested TLS versions.") }
    return context
  }

  /// Creates an OpenSSL SSL_CTX with OpenSSL's default settings.
  static func unconfigured(_ method: OpaquePointer?) throws(TLSError) -> Owned {
    OpenSSL.setUp()
    ERR_clear_error()
    guard let context = Owned(SSL_CTX_new(method), freeing: SSL_CTX_free) else {
      throw .configurationFromQueue("OpenSSL couldn't create a context. Check its configuration file.")
    }
    return context
  }

  /// Increments the reference count of an SSL_CTX, and returns it. `init` calls this function, because the local `Owned` value in
  /// `init` releases one reference at the end of its scope, even if `init` throws.
  private static func retained(_ context: OpaquePointer) -> OpaquePointer {
    SSL_CTX_up_ref(context)
    return context
  }

  private static func verify(_ configuration: TLSConfiguration, _ context: OpaquePointer) throws(TLSError) {
    guard configuration.verification == .full else {
      // A verifier and the check of an OCSP response require a verified chain.
      guard configuration.verifier == nil, configuration.ocspStapling == .ignored else {
        throw .configuration(
          "verifier and ocspStapling have no effect unless verification is .full. To accept certificates that OpenSSL "
            + "refuses, set .full and a verifier.")
      }
      SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
      return
    }
    try trust(configuration.trustRoots, context)
    if let file = configuration.revocationListFile { try refuseRevoked(byListsIn: file, context) }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, recordRejection)
    if configuration.verifier != nil {
      SSL_CTX_set_cert_verify_callback(context, askVerifier, nil)
    } else if configuration.revocationListFile == nil {
      // Revocation lists expire, so with lists each chain is verified.
      SSL_CTX_set_cert_verify_callback(context, verifyUnlessKnown, nil)
    }
    if configuration.ocspStapling != .ignored || configuration.requestsStapleForVerifier {
      lupine_ctx_ask_for_staple(context, checkStaple)
    }
  }

  /// Makes the sessions of `context`, an OpenSSL SSL_CTX, present the identity's certificate with its intermediate certificates,
  /// and sign with its private key.
  package static func use(_ identity: TLSIdentity, _ context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: each of these calls takes another reference.
    let isUsed =
      SSL_CTX_use_certificate(context, identity.material.leaf.pointer) == 1
      && identity.material.issuers.allSatisfy { lupine_ctx_add_chain_certificate(context, $0.pointer) == 1 }
      && SSL_CTX_use_PrivateKey(context, identity.material.key) == 1
    guard isUsed else {
      throw .configurationFromQueue("The certificate \(identity.material.leaf.subject) or its key can't be used.")
    }
  }

  /// Encodes the names of application protocols as a ProtocolNameList for ALPN: each name is preceded by one byte with its length
  /// (RFC 7301 §3.1).
  package static func encode(_ protocols: [String]) throws(TLSError) -> [UInt8] {
    var encoded: [UInt8] = []
    for name in protocols {
      guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
        throw .configuration("An application protocol's name has \(name.utf8.count) bytes. Use 1 to 255 bytes.")
      }
      encoded.append(count)
      encoded.append(contentsOf: name.utf8)
    }
    return encoded
  }
}
