// What a chain was verified against, kept so that it can be verified again on other terms.

import CLupineOpenSSL

/// The trust roots and parameters of a verification. Nobody changes them, so that several threads may use them.
final class VerificationTerms: Sendable {
  // SAFETY: OpenSSL counts the store's references atomically and guards it with a lock of its own; the parameters are a
  // copy that is only read.
  private nonisolated(unsafe) let store: OpaquePointer
  private nonisolated(unsafe) let parameters: OpaquePointer

  /// Keeps the terms of a verification that is set up; nil without memory.
  init?(of context: OpaquePointer) {
    guard let store = X509_STORE_CTX_get0_store(context),
      let parameters = Self.copy(X509_STORE_CTX_get0_param(context))
    else { return nil }
    X509_STORE_up_ref(store)
    self.store = store
    self.parameters = parameters
  }

  deinit {
    // SAFETY: gives back what `init` took.
    X509_STORE_free(store)
    X509_VERIFY_PARAM_free(parameters)
  }

  private static func copy(_ parameters: OpaquePointer?) -> OpaquePointer? {
    guard let copy = X509_VERIFY_PARAM_new() else { return nil }
    // SAFETY: `copy` is ours; OpenSSL copies what it takes over.
    guard X509_VERIFY_PARAM_set1(copy, parameters) == 1 else {
      X509_VERIFY_PARAM_free(copy)
      return nil
    }
    return copy
  }

  /// Verifies certificates as they were sent, for a name or for any, with anchors in place of the trust roots if there are
  /// some. Throws if the terms can't be set.
  func verify(
    _ sent: [Certificate], name: PeerName?, shownAs host: String, anchors: [Certificate]?
  ) throws(TLSError) -> CertificateVerifier.Evidence.Verification {
    ERR_clear_error()
    defer { ERR_clear_error() }
    // SAFETY: the context borrows the stack, its certificates and the store of anchors. Those end after it, in the order
    // that is turned around below; what the stack holds is `sent`'s, which the caller holds meanwhile.
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
    guard let parameters = Self.copy(parameters) else { throw .outOfMemory("a verification's parameters") }
    // SAFETY: the context takes the copy over, and frees it.
    X509_STORE_CTX_set0_param(context, parameters)
    PeerName.requireNone(in: parameters)
    try name?.require(in: parameters)
    // An anchor is trusted as it is, also an intermediate or the server's own certificate.
    if trustsAnyAnchor { X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) }
  }

  /// A store of these alone, which the caller has to free.
  private static func store(of anchors: [Certificate]) throws(TLSError) -> OpaquePointer? {
    guard let store = X509_STORE_new() else { throw .outOfMemory("a store of anchors") }
    for anchor in anchors {
      // SAFETY: the store takes a reference of its own.
      guard X509_STORE_add_cert(store, anchor.pointer) == 1 else {
        X509_STORE_free(store)
        throw .configurationFromQueue("An anchor can't be added.")
      }
    }
    return store
  }
}

/// The part of a chain, from its beginning, in which each certificate is signed by the next one.
///
/// OpenSSL joins certificates by their names and looks at signatures last: in a chain that failed before that, the names
/// may be all that holds it together, and anybody can write them.
func linked(_ chain: [Certificate]) -> [Certificate] {
  var count = min(chain.count, 1)
  while count < chain.count, chain[count - 1].isSigned(by: chain[count]) { count += 1 }
  return Array(chain.prefix(count))
}
