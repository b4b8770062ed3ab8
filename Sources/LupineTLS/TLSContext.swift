// What sessions with the same settings share: OpenSSL's SSL_CTX, configured once and never changed after.

import CLupineOpenSSL
import Glibc

/// One per configuration. Safe to use from several threads; loading the trust roots takes milliseconds, so keep it.
package final class TLSContext: Sendable {
  // SAFETY: OpenSSL counts an SSL_CTX's references atomically, and allows several threads to make sessions from one
  // that nobody configures any more; `init` is the only place that does.
  nonisolated(unsafe) let pointer: OpaquePointer
  let resumption = ResumptionStore()
  let isServer: Bool
  /// The ALPN callback's argument, which must live as long as the context.
  private let served: ServedProtocols

  /// Makes the context of clients; throws `TLSError.Code.configuration` for settings or trust roots that can't be used.
  package init(client configuration: TLSConfiguration) throws(TLSError) {
    let context = try Self.make(
      TLS_client_method(), from: configuration.minimumVersion, upTo: configuration.maximumVersion)
    switch configuration.verification {
    case .none:
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_NONE, nil)
    case .full:
      try Self.trust(configuration.trustRoots, context.pointer)
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, recordRejection)
    }
    let offered = try Self.encode(configuration.applicationProtocols)
    // Alone among its siblings, this call answers 0 for success.
    if !offered.isEmpty, SSL_CTX_set_alpn_protos(context.pointer, offered, UInt32(offered.count)) != 0 {
      throw .configurationFromQueue("The application protocols can't be set.")
    }
    lupine_ctx_hand_over_client_sessions(context.pointer)
    SSL_CTX_sess_set_new_cb(context.pointer, keepSession)
    pointer = Self.retained(context.pointer)
    isServer = false
    served = ServedProtocols([])
  }

  /// Makes the context of servers, for the origin that tests and the demo talk to. Further certificates of the text
  /// are sent as the chain. Throws `TLSError.Code.configuration` if certificate and key can't be used together.
  package init(
    serverCertificatePEM: [UInt8],
    privateKeyPEM: [UInt8],
    applicationProtocols: [String] = ["http/1.1"],
    versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3
  ) throws(TLSError) {
    let context = try Self.make(TLS_server_method(), from: versions.lowerBound, upTo: versions.upperBound)
    try Self.identify(context.pointer, certificatePEM: serverCertificatePEM, privateKeyPEM: privateKeyPEM)
    served = ServedProtocols(try Self.encode(applicationProtocols))
    if !served.encoded.isEmpty {
      // SAFETY: `served` lives as long as this object, which every session of the context holds.
      SSL_CTX_set_alpn_select_cb(context.pointer, chooseProtocol, Unmanaged.passUnretained(served).toOpaque())
    }
    pointer = Self.retained(context.pointer)
    isServer = true
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
    ERR_clear_error()
    guard let context = Owned(SSL_CTX_new(method), freeing: SSL_CTX_free) else {
      throw .configurationFromQueue("OpenSSL made no context; check its configuration file.")
    }
    lupine_ctx_forbid_compression_and_renegotiation(context.pointer)
    // An idle connection of the pool then holds no record buffers, which are 34 KB.
    lupine_ctx_release_idle_buffers(context.pointer)
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

  private static func trust(_ roots: TLSConfiguration.TrustRoots, _ context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    switch roots {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw .configurationFromQueue("The system's trust roots can't be loaded.")
      }
      return
    case .file(let path):
      guard SSL_CTX_load_verify_file(context, path) == 1 else {
        throw .configurationFromQueue("The trust roots can't be read from \(path); it must be a PEM file.")
      }
    case .directory(let path):
      // OpenSSL looks into the directory only once it needs an issuer, and then a wrong path looks like an unknown CA.
      guard let directory = opendir(path) else {
        throw .configuration("The directory of trust roots \(path) can't be opened (errno \(errno)). Check the path.")
      }
      closedir(directory)
      guard SSL_CTX_load_verify_dir(context, path) == 1 else {
        throw .configurationFromQueue("The trust roots in \(path) can't be used.")
      }
    case .pem(let text):
      try trust(text, context)
    }
    // What was named on purpose is trusted as it is, also an intermediate or a server's own certificate.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
  }

  private static func trust(_ text: [UInt8], _ context: OpaquePointer) throws(TLSError) {
    let store = SSL_CTX_get_cert_store(context)
    let count = try PEM.forEachCertificate(in: text) { certificate throws(TLSError) in
      // SAFETY: the store belongs to the context and takes a reference of its own.
      guard X509_STORE_add_cert(store, certificate) == 1 else {
        throw .configurationFromQueue("A trust root can't be added.")
      }
    }
    guard count > 0 else {
      throw .configuration("The trust roots hold no certificate. Pass PEM text with BEGIN CERTIFICATE lines.")
    }
  }

  private static func identify(
    _ context: OpaquePointer, certificatePEM: [UInt8], privateKeyPEM: [UInt8]
  ) throws(TLSError) {
    var isLeaf = true
    let count = try PEM.forEachCertificate(in: certificatePEM) { certificate throws(TLSError) in
      // SAFETY: both calls take a reference of their own.
      let added =
        isLeaf
        ? SSL_CTX_use_certificate(context, certificate) : lupine_ctx_add_chain_certificate(context, certificate)
      guard added == 1 else { throw .configurationFromQueue("The server's certificate can't be used.") }
      isLeaf = false
    }
    guard count > 0 else { throw .configuration("The server's PEM text holds no certificate.") }
    let key = try PEM.privateKey(in: privateKeyPEM)
    ERR_clear_error()
    // SAFETY: OpenSSL takes a reference of its own.
    guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1, SSL_CTX_check_private_key(context) == 1 else {
      throw .configurationFromQueue("The private key doesn't belong to the server's certificate.")
    }
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
