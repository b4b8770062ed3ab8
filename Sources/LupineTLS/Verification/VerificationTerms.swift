// VerificationTerms: the trust roots and parameters with which a chain was verified, kept to verify it again.

import CLupineOpenSSL

/// The trust roots and parameters with which OpenSSL verifies certificates. They are immutable, so several threads may use them.
final class VerificationTerms: Sendable {
  // SAFETY: OpenSSL counts the store's references atomically and guards the store with a lock. The parameters are a
  // copy that is only read.
  private nonisolated(unsafe) let store: OpaquePointer
  private nonisolated(unsafe) let parameters: OpaquePointer

  /// Copies the verification parameters of `context`, an X509_STORE_CTX that is set up for a verification, and retains its trust
  /// roots. Returns nil if memory runs out.
  init?(of context: OpaquePointer) {
    guard let store = X509_STORE_CTX_get0_store(context),
      let parameters = Self.copy(X509_STORE_CTX_get0_param(context))
    else { return nil }
    X509_STORE_up_ref(store)
    self.store = store
    self.parameters = parameters
  }

  deinit {
    // SAFETY: releases the references that `init` took.
    X509_STORE_free(store)
    X509_VERIFY_PARAM_free(parameters)
  }

  private static func copy(_ parameters: OpaquePointer?) -> OpaquePointer? {
    guard let copy = X509_VERIFY_PARAM_new() else { return nil }
    // SAFETY: `copy` is ours, and OpenSSL copies the values that it takes over.
    guard X509_VERIFY_PARAM_set1(copy, parameters) == 1 else {
      X509_VERIFY_PARAM_free(copy)
      return nil
    }
    return copy
  }

  /// Verifies a server's certificates again, with the current time. Throws a `TLSError` with the code `.configuration` if memory
  /// runs out, or if the verification's parameters can't be set.
  ///
  /// - Parameters:
  ///   - sent: The certificates as received, starting with the server's own.
  ///   - name: The name or address that the certificate must match, or nil to accept any name.
  ///   - host: The host that error messages name.
  ///   - anchors: Certificates to trust in place of the trust roots, or nil to use the trust roots.
  func verify(
    _ sent: [Certificate], name: PeerName?, shownAs host: String, anchors: [Certificate]?
  ) throws(TLSError) -> CertificateVerifier.Evidence.Verification {
    ERR_clear_error()
    defer { ERR_clear_error() }
    // SAFETY: the context borrows the stack, its certificates and the store of anchors. The deferred calls free the
    // context first, then the stack and the store. The caller keeps the certificates in `sent` alive during this call.
    let anchorStore = try anchors.map { anchors throws(TLSError) in try Self.store(of: anchors) }
    defer { X509_STORE_free(anchorStore ?? nil) }
    let untrusted = OPENSSL_sk_new_null()
    defer { OPENSSL_sk_free(untrusted) }
    let context = X509_STORE_CTX_new()
    defer { X509_STORE_CTX_free(context) }
    guard let context, let leaf = sent.first,
      sent.allSatisfy({ OPENSSL_sk_push(untrusted, UnsafeRawPointer($0.pointer)) > 0 }),
      X509_STORE_CTX_init(context, anchorStore ?? store, leaf.pointer, untrusted) == 1
    else { throw .outOfMemory("a verification") }
    try setParameters(of: context, name, trustsAnyAnchor: anchors != nil)
    let isGood = X509_verify_cert(context) == 1
    let chain = certificates(in: X509_STORE_CTX_get0_chain(context))
    return CertificateVerifier.Evidence.Verification(
      chain: (isGood ? chain : linked(chain)).map(\.der),
      problem: isGood ? nil : TLSError(CertificateRejection(context), host: host))
  }

  private func setParameters(
    of context: OpaquePointer, _ name: PeerName?, trustsAnyAnchor: Bool
  ) throws(TLSError) {
    guard let parameters = Self.copy(parameters) else { throw .outOfMemory("verification parameters") }
    // SAFETY: the context takes ownership of the copy and frees it.
    X509_STORE_CTX_set0_param(context, parameters)
    PeerName.requireNone(in: parameters)
    try name?.require(in: parameters)
    // Every certificate in `anchors` is trusted, even an intermediate certificate or the server's own.
    if trustsAnyAnchor { X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) }
  }

  /// Creates an OpenSSL X509_STORE that contains only the certificates `anchors`. The caller must free it.
  private static func store(of anchors: [Certificate]) throws(TLSError) -> OpaquePointer? {
    guard let store = X509_STORE_new() else { throw .outOfMemory("a store for anchors") }
    for anchor in anchors {
      // SAFETY: the store takes another reference.
      guard X509_STORE_add_cert(store, anchor.pointer) == 1 else {
        X509_STORE_free(store)
        throw .configurationFromQueue("The anchor can't be added.")
      }
    }
    return store
  }
}

/// Returns the first certificates of `chain`, up to the last one whose key signed its predecessor.
///
/// OpenSSL builds chains by the names in the certificates, and checks signatures last. If a chain fails before that, only names
/// link its certificates, and anyone can forge names.
func linked(_ chain: [Certificate]) -> [Certificate] {
  var count = min(chain.count, 1)
  while count < chain.count, chain[count - 1].isSigned(by: chain[count]) { count += 1 }
  return Array(chain.prefix(count))
}
