// RevocationMemory: a cache of the verified revocation statuses of certificates, which are kept until they expire.

import LupineEngine
import Synchronization

/// A cache of certificates' revocation statuses from verified OCSP responses and revocation lists. Thread-safe. All sessions can
/// share it, because every status is signed, so it doesn't matter which session fetched the status.
final class RevocationMemory: Sendable {
  /// The kind of source from which a revocation status comes: an OCSP response or a revocation list.
  enum Method: Sendable, Hashable {
    case ocsp, list
  }

  private struct Key: Hashable {
    let method: Method
    let fingerprint: [UInt8]
  }

  private struct Entry {
    let status: RevocationStatus
    /// The time at which the revocation status expires, in seconds since 1970.
    let end: Int
  }

  /// The cache of revocation statuses that all sessions share.
  static let shared = RevocationMemory()

  let countMax: Int
  private let entries = Mutex<[Key: Entry]>([:])

  /// Creates an empty cache for at most `countMax` revocation statuses. `countMax` must be at least 1.
  init(countMax: Int = RevocationLimits.rememberedMax) {
    self.countMax = countMax
  }

  var count: Int { entries.withLock { $0.count } }

  /// Returns the cached revocation status of a certificate that came from the given kind of source. Returns nil if none is cached,
  /// or if it has expired at `now`, in seconds since 1970.
  func status(of subject: RevocationSubject, by method: Method, now: Int) -> RevocationStatus? {
    let key = Key(method: method, fingerprint: subject.fingerprint)
    return entries.withLock { entries in
      guard let entry = entries[key], now < entry.end else { return nil }
      return entry.status
    }
  }

  /// Caches the verified status of a certificate until its `nextUpdate`, the time by which the issuer publishes a newer status. The
  /// status of a revoked certificate is cached until the process ends, and no other status replaces it. A good status without
  /// `nextUpdate` isn't cached.
  ///
  /// If the cache is full, the expired statuses are removed. If none has expired, the status that expires first is removed.
  func remember(_ status: RevocationStatus, of subject: RevocationSubject, by method: Method, now: Int) {
    let end: Int
    switch status {
    case .good(until: nil): return
    case .good(until: let next?): end = next
    case .revoked: end = .max
    }
    let key = Key(method: method, fingerprint: subject.fingerprint)
    entries.withLock { entries in
      if case .revoked = entries[key]?.status { return }
      if entries[key] == nil, entries.count >= countMax {
        entries = entries.filter { now < $0.value.end }
        if entries.count >= countMax, let first = entries.min(by: { $0.value.end < $1.value.end }) {
          entries[first.key] = nil
        }
      }
      entries[key] = Entry(status: status, end: end)
    }
  }
}
