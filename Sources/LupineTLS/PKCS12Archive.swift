// Certificate and key from a PKCS#12 archive (RFC 7292).

import CLupineOpenSSL

enum PKCS12Archive {
  static func open(_ bytes: [UInt8], password: String) throws(TLSError) -> KeyMaterial {
    // OpenSSL takes a password up to its first zero.
    guard !password.utf8.contains(0) else {
      throw .configuration("The PKCS#12 archive's password holds a NUL character, which no password can.")
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

  /// Runs with algorithms that OpenSSL 3 no longer loads by itself, such as RC2, without loading them for the process.
  private static func withLegacyAlgorithms(
    _ body: () throws(ArchiveError) -> Encoded
  ) throws(TLSError) -> Encoded {
    ERR_clear_error()
    guard let library = Owned(OSSL_LIB_CTX_new(), freeing: OSSL_LIB_CTX_free) else {
      throw .outOfMemory("a library context")
    }
    // Providers hold their context, so that it would outlive its owner with them.
    let standard = OSSL_PROVIDER_load(library.pointer, "default")
    defer { OSSL_PROVIDER_unload(standard) }
    let legacy = OSSL_PROVIDER_load(library.pointer, "legacy")
    defer { OSSL_PROVIDER_unload(legacy) }
    guard standard != nil, legacy != nil else {
      throw .configurationFromQueue(
        "The PKCS#12 archive is encrypted with an old algorithm such as RC2, and OpenSSL's legacy provider can't be "
          + "loaded. Install it (legacy.so), or convert the archive where it is: openssl pkcs12 -legacy -in OLD -nodes "
          + "-out ALL.pem; openssl pkcs12 -export -in ALL.pem -out NEW.")
    }
    // SAFETY: the default is this thread's alone, and is put back before the context goes; what `body` made in it is gone
    // by then, but for plain bytes.
    let previous = OSSL_LIB_CTX_set0_default(library.pointer)
    defer { OSSL_LIB_CTX_set0_default(previous) }
    do throws(ArchiveError) {
      return try body()
    } catch {
      throw error.shown
    }
  }

  /// What an archive holds, in DER, so that it belongs to no library context.
  private struct Encoded {
    let leaf: [UInt8]
    let others: [[UInt8]]
    let key: [UInt8]

    func material() throws(TLSError) -> KeyMaterial {
      ERR_clear_error()
      guard let leaf = Certificate(der: leaf), let key = Owned(decodedKey(), freeing: EVP_PKEY_free) else {
        throw .configurationFromQueue("The PKCS#12 archive's certificate or key can't be read again.")
      }
      return try KeyMaterial(
        leaf: leaf, issuers: issuers(of: leaf, among: others.compactMap { Certificate(der: $0) }), key: key.pointer)
    }

    private func decodedKey() -> OpaquePointer? {
      key.withUnsafeBufferPointer { bytes in
        // SAFETY: OpenSSL reads at most `count` bytes.
        var next = bytes.baseAddress
        return d2i_AutoPrivateKey(nil, &next, bytes.count)
      }
    }

    /// An archive's certificates have no order, but those of a handshake have (RFC 8446 §4.4.2).
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
      throw ArchiveError("The \(bytes.count) bytes of the identity are no PKCS#12 archive.")
    }
    if PKCS12_mac_present(archive.pointer) == 1 {
      // RFC 7292 has two kinds of no password: none, and an empty one.
      guard
        PKCS12_verify_mac(archive.pointer, password, Int32(password.utf8.count)) == 1
          || (password.isEmpty && PKCS12_verify_mac(archive.pointer, nil, 0) == 1)
      else { throw ArchiveError("The password doesn't open the PKCS#12 archive, or the archive is damaged.") }
    }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    ERR_clear_error()
    guard PKCS12_parse(archive.pointer, password, &key, &certificate, &others) == 1 else {
      throw ArchiveError("The PKCS#12 archive can't be decrypted.")
    }
    // SAFETY: the three are ours, and freed here on every path.
    defer {
      lupine_free_certificates(others)
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    guard let key, let certificate else {
      throw ArchiveError("The PKCS#12 archive has no private key with its certificate.")
    }
    return Encoded(
      leaf: der(of: certificate, i2d_X509), others: certificates(in: others).map(\.der),
      key: der(of: key, i2d_PrivateKey))
  }
}

/// Why an archive wasn't opened, with what OpenSSL said.
private struct ArchiveError: Error {
  let shown: TLSError
  /// Whether an algorithm is missing.
  let isUnsupported: Bool

  /// Empties the queue.
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
