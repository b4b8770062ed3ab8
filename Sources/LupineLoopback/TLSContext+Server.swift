// TLSContext+Server: the TLS context of a server, and its callbacks during a handshake.

internal import CLupineOpenSSL
package import LupineTLS

extension TLSContext {
  /// Creates a TLS context for a server.
  ///
  /// - Parameters:
  ///   - serverCertificatePEM: The server's certificate. Further certificates in the text are sent as its chain.
  ///   - privateKeyPEM: The key of the server's certificate.
  ///   - applicationProtocols: The protocols that ALPN may select, most preferred first.
  ///   - versions: The TLS versions that the server accepts.
  ///   - clientAuthorityPEM: If set, the server requests a client certificate that this authority has issued.
  ///   - requiresClientCertificate: Whether a client must present the requested certificate.
  ///   - stapledResponse: An OCSP response in DER for clients that request one, or empty for none.
  ///   - sessionSeconds: The time in seconds for which the server lets clients resume its sessions. OpenSSL's default is 2 hours.
  /// - Throws: `TLSError.Code.configuration` if the certificate and the key can't be used together.
  package convenience init(
    serverCertificatePEM: [UInt8],
    privateKeyPEM: [UInt8],
    applicationProtocols: [String] = ["http/1.1"],
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3,
    clientAuthorityPEM: [UInt8]? = nil,
    requiresClientCertificate: Bool = true,
    stapledResponse: [UInt8] = [],
    sessionSeconds: Int? = nil
  ) throws(TLSError) {
    let context = try Self.make(TLS_server_method(), from: versions.lowerBound, upTo: versions.upperBound)
    try Self.use(
      TLSIdentity(certificatePEM: serverCertificatePEM, privateKeyPEM: privateKeyPEM), context.pointer)
    if let clientAuthorityPEM {
      try Self.requestClientCertificate(
        from: clientAuthorityPEM, isRequired: requiresClientCertificate, context.pointer)
    }
    let answers = ServerAnswers(protocols: try Self.encode(applicationProtocols), staple: stapledResponse)
    // SAFETY: `answers` lives as long as the new object, which every session of the context retains.
    let argument = Unmanaged.passUnretained(answers).toOpaque()
    if !answers.protocols.isEmpty { SSL_CTX_set_alpn_select_cb(context.pointer, chooseProtocol, argument) }
    if !answers.staple.isEmpty { lupine_ctx_serve_staple(context.pointer, serveStaple, argument) }
    if let sessionSeconds { _ = SSL_CTX_set_timeout(context.pointer, sessionSeconds) }
    self.init(configured: context, argument: answers)
  }

  private static func requestClientCertificate(
    from authorityPEM: [UInt8], isRequired: Bool, _ context: OpaquePointer
  ) throws(TLSError) {
    try trust([.pem(authorityPEM)], context)
    _ = try PEM.forEachCertificate(in: authorityPEM) { authority throws(TLSError) in
      // SAFETY: OpenSSL copies the name.
      guard SSL_CTX_add_client_CA(context, authority) == 1 else {
        throw .configurationFromQueue("The clients' authority can't be named.")
      }
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nil)
    // OpenSSL resumes sessions with client certificates only if the context has a session ID context.
    let name = Array("lupine".utf8)
    SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
  }
}

/// The data that the callbacks of a server's TLS context send during a handshake.
private final class ServerAnswers: Sendable {
  /// The application protocols that the server supports, in ALPN's encoding (RFC 7301 §3.1).
  let protocols: [UInt8]
  /// The DER-encoded OCSP response that the server staples to its handshakes. Empty if it staples none.
  let staple: [UInt8]

  init(protocols: [UInt8], staple: [UInt8]) {
    self.protocols = protocols
    self.staple = staple
  }
}

/// OpenSSL's callback for a client that requests a stapled OCSP response. Staples the response of the server's context.
private let serveStaple: lupine_staple_callback = { ssl, argument in
  guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
  // SAFETY: the argument is the context's ServerAnswers, and OpenSSL copies the bytes.
  let staple = Unmanaged<ServerAnswers>.fromOpaque(argument).takeUnretainedValue().staple
  return lupine_ssl_set_staple(ssl, staple, staple.count) == 1 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
}

/// OpenSSL's callback for a client that offers protocols by ALPN. Selects the server's most preferred protocol among those that the
/// client offers. If there is none, sends a no_application_protocol alert (RFC 7301 §3.2).
private let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenCount, offered, offeredCount, argument in
  guard let chosen, let chosenCount, let offered, let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  // SAFETY: the argument is the context's ServerAnswers. `offered` has `offeredCount` bytes in the form that OpenSSL
  // has checked, and lives until OpenSSL has copied the choice.
  let served = Unmanaged<ServerAnswers>.fromOpaque(argument).takeUnretainedValue().protocols
  let list = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
  for choice in alpnNames(served) {
    let wanted = served[choice]
    guard let match = alpnNames(list).first(where: { list[$0].elementsEqual(wanted) }) else { continue }
    chosen.pointee = offered.advanced(by: match.lowerBound)
    chosenCount.pointee = UInt8(match.count)
    return SSL_TLSEXT_ERR_OK
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Returns the range of each name in a ProtocolNameList of ALPN (RFC 7301 §3.1). Stops at a name that extends beyond the end of the
/// list.
private func alpnNames(_ list: some RandomAccessCollection<UInt8>) -> [Range<Int>] {
  let bytes = Array(list)
  var ranges: [Range<Int>] = []
  var index = 0
  while index < bytes.count, case let end = index + 1 + Int(bytes[index]), end <= bytes.count {
    ranges.append(index + 1..<end)
    index = end
  }
  return ranges
}
