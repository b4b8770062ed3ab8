// InvalidationLog: the URIs that unsafe requests have invalidated recently, so that no response to an earlier request is stored
// afterward (RFC 9111 §4.4).

import LupineCache
import LupineCacheStore
import Synchronization

/// The invalidations of a cache's stored responses by unsafe requests such as POST, numbered in their order.
///
/// An invalidation removes only responses that are already stored. The response to a GET request that was sent before may arrive
/// after the invalidation, although the origin has created it from the old state. The cache looks here before it stores such a
/// response.
final class InvalidationLog: Sendable {
  /// The maximum number of URIs in the log: 1,000. If it is exceeded, the URI whose latest invalidation is the oldest is forgotten.
  /// From then on, any URI that isn't in the log may have been invalidated up to that time.
  static let invalidatedURIsMax = 1_000

  private struct State: ~Copyable {
    /// The number of the latest invalidation of each URI.
    var latest = RecencyList<CacheKey, UInt64>()
    /// The number of the latest invalidation that has been forgotten, or 0.
    var forgotten: UInt64 = 0
  }

  private let total = Atomic<UInt64>(0)
  private let state = Mutex(State())

  /// The number of invalidations so far. Read before a request is sent.
  var count: UInt64 { total.load(ordering: .acquiring) }

  /// An invalidation of a URI: its number, and that of the latest invalidation before it that may have concerned the URI.
  struct Entry: Sendable {
    let number: UInt64
    let previous: UInt64
  }

  /// Adds an invalidation of the URI. Must be called before the stored responses are removed.
  @discardableResult
  func add(_ key: CacheKey) -> Entry {
    state.withLock { state in
      let previous = state.latest[key] ?? state.forgotten
      let number = total.add(1, ordering: .acquiringAndReleasing).newValue
      state.latest.insert(number, for: key, byteCount: 0)
      if state.latest.count > Self.invalidatedURIsMax, let oldest = state.latest.oldestKey {
        state.forgotten = state.latest.remove(oldest) ?? state.forgotten
      }
      return Entry(number: number, previous: previous)
    }
  }

  /// Returns whether the URI may have been invalidated after the first `count` invalidations. Takes no lock if there has been no
  /// further invalidation.
  func mayContain(_ key: CacheKey, after count: UInt64) -> Bool {
    guard self.count > count else { return false }
    return state.withLock { ($0.latest[key] ?? $0.forgotten) > count }
  }
}
