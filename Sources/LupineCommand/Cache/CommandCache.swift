// CommandCache: the folder of --cache, with stored responses that later runs use.

import Glibc
import LupineCache
import LupineCacheStore
import LupineEngine

/// Stored responses in a folder. A response isn't stored if its request has credentials or cookies, or if it sets a cookie,
/// because another run may act for another user.
final class CommandCache: Sendable {
  /// The maximum size of the folder's records, in bytes: 256 MiB. Chrome uses up to 320 MiB.
  static let capacity = 256 << 20

  /// The stored responses for a request, their identifiers in the store, and the decision whether to serve one of them or to send
  /// the request.
  struct Lookup: Sendable {
    let stored: [StoredResponse]
    let ids: [UInt64]
    let decision: CacheDecision
  }

  let store: DiskStore

  init(folder: String) throws(CommandError) {
    do {
      store = try DiskStore(folder: folder, capacity: Self.capacity)
    } catch {
      throw CommandError(.other, "\(folder) can't be used as a cache (\(error)). Check the path of --cache.")
    }
  }

  /// Returns whether the cache can be used for a request. All runs share the cache, which keeps responses by URL. The cache is
  /// therefore not used with an option that leads the request to another server, or that changes which certificates are trusted
  /// or presented.
  static func isUsable(for request: EngineRequest, _ options: Options) -> Bool {
    let isElsewhere =
      request.fields.contains("Host") || !options.overrides.isEmpty || options.socketPath != nil
      || options.proxy != .environment
    let hasOwnTrust =
      options.skipsVerification || options.trustRootsPath != nil || options.trustRootsFolder != nil
      || options.identity != IdentityFiles()
    // A request that authenticates a connection must be sent.
    return !isElsewhere && !hasOwnTrust && request.connectionDemand == nil
  }

  /// The current time in seconds since 1970.
  var now: Int64 { Int64(time(nil)) }

  /// Returns the parts of a request from which the cache decides.
  func request(_ request: EngineRequest) -> CacheRequest {
    var cached = CacheRequest(method: request.method, uri: request.uri, fields: request.fields)
    if !request.body.isEmpty { cached.content = .present }
    return cached
  }

  /// Looks up the stored responses for a request, and decides how to answer the request. Skips a response with a content coding if
  /// its body isn't stored in the form that the request needs: decoded if `isDecoded` is true, otherwise as received.
  func lookup(_ request: CacheRequest, isDecoded: Bool) -> Lookup {
    var (stored, ids): ([StoredResponse], [UInt64]) = ([], [])
    store.forEachRecord(of: request.uri.cacheKey) { record in
      let response = record.response
      if !response.fields.contains("Content-Encoding") || (response.bodyForm == .decoded) == isDecoded {
        stored.append(response)
        ids.append(record.id)
      }
    }
    return Lookup(stored: stored, ids: ids, decision: CacheDecision(request, stored: stored, now: now))
  }

  /// Removes the stored responses that a response to an unsafe method invalidates.
  func invalidate(after head: ResponseHead, to request: CacheRequest) {
    for uri in Invalidation.targets(of: request, status: head.status, fields: head.fields) {
      store.removeAll(for: uri.cacheKey)
    }
  }

  /// Applies changes to the stored responses of a lookup, for example after a 304: replaces their metadata, marks them as
  /// invalidated, or removes them. A response whose latest exchange used credentials or set a cookie is removed too.
  func apply(_ updates: [StoredUpdate], to lookup: Lookup) {
    for update in updates {
      let id = lookup.ids[update.index]
      switch update.change {
      case .replace(let new) where new.partition == .anonymous:
        // If this fails because the disk is full, the record keeps its old metadata, and is validated again by the next request.
        _ = replace(id, with: new)
      case .replace, .remove: store.remove(id)
      case .invalidate:
        var invalidated = lookup.stored[update.index]
        invalidated.state = .invalidated
        // If the record can't be marked as invalid, it is removed, because it would still be served.
        if !replace(id, with: invalidated) { store.remove(id) }
      }
    }
  }

  /// Replaces a record's metadata. Returns false if that fails, for example because the disk is full.
  private func replace(_ id: UInt64, with response: StoredResponse) -> Bool {
    (try? store.replace(id, with: response, newID: .random(in: .min ... .max))) != nil
  }
}
