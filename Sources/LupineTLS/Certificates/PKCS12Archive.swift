// PKCS12Archive: reads a certificate and its key from a PKCS#12 archive (RFC 7292).

import CLupineOpenSSL

enum PKCS12Archive {
  static func open(_ bytes: [UInt8], password: String) throws(TLSError) -> KeyMaterial {
    // OpenSSL would ignore the part of a password after its first NUL.
    guard !password.utf8.contains(0) else {
      throw .configuration("The PKCS#12 archive's password contains a NUL character, which isn't allowed. Remove it.")
    }
    OpenSSL.setUp()
    let encoded: Encoded
    do throws(ArchiveError) {
      encoded = try parse(bytes, password)
    } catch {
      guard error.isUnsupported else { throw error.shown }
      encoded = try withLegacyAlgorithms { () throws(ArchiveError) in try parse(bytes, password) }
    }
    return try encoded.material()
  }

  /// Runs `body` with algorithms that OpenSSL 3 doesn't load by default, such as RC2. The algorithms are loaded into a separate
  /// library context, so the rest of the process can't use them.
  private static func withLegacyAlgorithms(
    _ body: () throws(ArchiveError) -> Encoded
  ) throws(TLSError) -> Encoded {
    ERR_clear_error()
    guard let library = Owned(OSSL_LIB_CTX_new(), freeing: OSSL_LIB_CTX_free) else {
      throw .outOfMemory("a library context")
    }
    // Providers retain the library context, so they must be unloaded before the context can be freed.
    let standard = OSSL_PROVIDER_load(library.pointer, "default")
    defer { OSSL_PROVIDER_unload(standard) }
    let legacy = OSSL_PROVIDER_load(library.pointer, "legacy")
    defer { OSSL_PROVIDER_unload(legacy) }
    guard standard != nil, legacy != nil else {
      throw .configurationFromQueue(
        "The PKCS#12 archive is encrypted with an old algorithm such as RC2, but OpenSSL's legacy provider can't be "
          + "loaded. Install it (legacy.so), or convert the archive where it is installed: openssl pkcs12 -legacy -in "
          + "OLD -nodes -out ALL.pem; openssl pkcs12 -export -in ALL.pem -out NEW.")
    }
    // SAFETY: this sets the default context of the current thread only, and it is restored before the library context is freed.
    // By then, all objects that `body` has created in the context are freed, because `body` returns only plain bytes.
    let previous = OSSL_LIB_CTX_set0_default(library.pointer)
    defer { OSSL_LIB_CTX_set0_default(previous) }
    do throws(ArchiveError) {
      return try body()
    } catch {
      throw error.shown
    }
  }

  /// The certificates and the private key of a PKCS#12 archive, each in DER. Unlike OpenSSL's parsed objects, DER doesn't depend on
  /// a library context.
  private struct Encoded {
    let leaf: [UInt8]
    let others: [[UInt8]]
    let key: [UInt8]

    func material() throws(TLSError) -> KeyMaterial {
      ERR_clear_error()
      guard let leaf = Certificate(der: leaf), let key = decodeDER(key, d2i_AutoPrivateKey, freeing: EVP_PKEY_free)
      else {
        throw .configurationFromQueue("The PKCS#12 archive's certificate or key can't be parsed.")
      }
      return try KeyMaterial(
        leaf: leaf, issuers: issuers(of: leaf, among: others.compactMap { Certificate(der: $0) }), key: key.pointer)
    }

    /// Returns the issuers of `leaf` in the order that a TLS handshake requires, starting with the direct issuer (RFC 8446 §4.4.2).
    /// `others` are the archive's other certificates, which may be in any order.
    private func issuers(of leaf: Certificate, among others: [Certificate]) -> [Certificate] {
      var rest = others
      var chain: [Certificate] = []
      var last = leaf
      while let next = rest.firstIndex(where: { X509_check_issued($0.pointer, last.pointer) == X509_V_OK }) {
        last = rest.remove(at: next)
        chain.append(last)
      }
      return chain
    }
  }

  private static func parse(_ bytes: [UInt8], _ password: String) throws(ArchiveError) -> Encoded {
    ERR_clear_error()
    let read = bytes.withUnsafeBufferPointer { bytes in
      // SAFETY: OpenSSL reads at most `count` bytes.
      var next = bytes.baseAddress
      return d2i_PKCS12(nil, &next, bytes.count)
    }
    guard let archive = Owned(read, freeing: PKCS12_free) else {
      throw ArchiveError("The identity's \(bytes.count) bytes aren't a PKCS#12 archive.")
    }
    if PKCS12_mac_present(archive.pointer) == 1 {
      // In PKCS#12, an absent password and an empty password are different, so both are tried if `password` is empty.
      guard
        PKCS12_verify_mac(archive.pointer, password, Int32(password.utf8.count)) == 1
          || (password.isEmpty && PKCS12_verify_mac(archive.pointer, nil, 0) == 1)
      else { throw ArchiveError("The PKCS#12 archive's password is wrong, or the archive is damaged.") }
    }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    ERR_clear_error()
    guard PKCS12_parse(archive.pointer, password, &key, &certificate, &others) == 1 else {
      throw ArchiveError("The PKCS#12 archive can't be decrypted.")
    }
    // SAFETY: the three objects are ours and freed here on every path.
    defer {
      lupine_free_certificates(others)
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    guard let key, let certificate else {
      throw ArchiveError("The PKCS#12 archive has no certificate with a private key.")
    }
    return Encoded(
      leaf: der(of: certificate, i2d_X509), others: certificates(in: others).map(\.der),
      key: der(of: key, i2d_PrivateKey))
  }
}

/// The reason why a PKCS#12 archive can't be opened, including OpenSSL's error.
private struct ArchiveError: Error {
  let shown: TLSError
  /// Whether OpenSSL couldn't open the archive because it doesn't support one of the archive's algorithms.
  let isUnsupported: Bool

  /// Creates an error with `message` and the first entry of OpenSSL's error queue as its text. Empties the queue.
  init(_ message: String) {
    var texts: [String] = []
    var isUnsupported = false
    while let queued = QueuedError.next() {
      texts.append(queued.text)
      if queued.reason == ERR_R_UNSUPPORTED || queued.reason == EVP_R_UNSUPPORTED_ALGORITHM { isUnsupported = true }
    }
    shown = .configuration("\(message) OpenSSL says: \(texts.first ?? "nothing").")
    self.isUnsupported = isUnsupported
  }
}
