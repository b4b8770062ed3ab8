// VerifiedChains: the servers' certificate chains that a context verified recently, and needn't verify again.

import CLupineOpenSSL
import LupineLibc
import Synchronization

/// The latest verified certificate chain of each host name, for the connections of one `TLSContext`. It is thread-safe.
///
/// Verifying a chain takes about a tenth of a full handshake's time (`perf record` of `load-engine-callback`). If a server sends
/// the same certificates again within a minute, the result would be the same, because the trust roots and all other settings
/// belong to the context. A chain is found only under the name for which it was verified, and only until one of its certificates
/// expires. Each full handshake still checks that the server has the private key, and the stapled OCSP response if the settings
/// require that. A context with a verifier or revocation lists doesn't use this class.
///
/// A directory of trust roots is the only source that OpenSSL reads again. If a file that rejects an intermediate certificate is
/// added to it, that takes effect after a minute at most.
final class VerifiedChains: Sendable {
  private struct Entry {
    /// The certificates in DER that the server sent, starting with its own.
    let sent: [[UInt8]]
    /// The chain that OpenSSL built from them, up to the trust root.
    let chain: [Certificate]
    /// The times, in seconds since 1970, at which the result of the verification is still valid.
    let times: Range<Int>
  }

  /// The latest chain of each host that a server's certificate had to match.
  private let entries = Mutex<[String: Entry]>([:])

  /// Returns the verified chain if a server has sent the same certificates for `host` shortly before `now`, or nil if they must be
  /// verified.
  ///
  /// - Parameters:
  ///   - sent: The certificates in DER that the server sent.
  ///   - host: The name or address that the server's certificate must match.
  ///   - now: The current time, in seconds since 1970.
  func chain(of sent: [[UInt8]], from host: String, now: Int) -> [Certificate]? {
    guard let entry = entries.withLock({ $0[host] }), entry.times.contains(now), entry.sent == sent else { return nil }
    return entry.chain
  }

  /// Stores a chain that OpenSSL has verified at the time `now`. It replaces the host's previous chain.
  func keep(_ chain: [Certificate], builtFrom sent: [[UInt8]], from host: String, now: Int) {
    // A certificate that can't be encoded is empty, and would be equal to any other such certificate.
    guard !chain.isEmpty, !sent.isEmpty, !sent.contains([]) else { return }
    var end = now + TLSLimits.verifiedChainSeconds
    for certificate in chain {
      // If the date can't be read, the chain isn't stored.
      guard let expiry = certificate.expiry else { return }
      end = min(end, expiry)
    }
    guard now < end else { return }
    let entry = Entry(sent: sent, chain: chain, times: now..<end)
    entries.withLock { entries in
      if entries[host] == nil, entries.count >= TLSLimits.verifiedChainsMax {
        entries = entries.filter { $0.value.times.contains(now) }
        if entries.count >= TLSLimits.verifiedChainsMax, let victim = entries.keys.first { entries[victim] = nil }
      }
      entries[host] = entry
    }
  }
}

/// OpenSSL calls this function to verify the server's chain. If the same certificates were verified recently, the function returns
/// that result. Otherwise, it lets OpenSSL verify the chain.
let verifyUnlessKnown: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
  guard let store, let attachment = ClientAttachment.attached(toVerification: store) else { return 0 }
  let sent = certificates(in: X509_STORE_CTX_get0_untrusted(store)).map(\.der)
  let (known, host, now) = (attachment.settings.verifiedChains, attachment.host, time(nil))
  if let chain = known.chain(of: sent, from: host, now: now), use(chain, asResultOf: store) { return 1 }
  let isGood = X509_verify_cert(store) == 1
  if isGood && X509_STORE_CTX_get_error(store) == X509_V_OK {
    known.keep(certificates(in: X509_STORE_CTX_get0_chain(store)), builtFrom: sent, from: host, now: now)
  }
  return isGood ? 1 : 0
}

/// Makes `chain` the result of the verification `store`, an OpenSSL X509_STORE_CTX, as if OpenSSL had verified it. Returns false if
/// memory runs out.
private func use(_ chain: [Certificate], asResultOf store: OpaquePointer) -> Bool {
  guard let stack = OPENSSL_sk_new_reserve(nil, Int32(chain.count)) else { return false }
  for certificate in chain {
    // SAFETY: the stack owns a reference to each of its certificates. Its memory is reserved, so `push` can't fail.
    X509_up_ref(certificate.pointer)
    OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.pointer))
  }
  // SAFETY: the store takes ownership of the stack and its references.
  X509_STORE_CTX_set0_verified_chain(store, stack)
  X509_STORE_CTX_set_error(store, X509_V_OK)
  return true
}
