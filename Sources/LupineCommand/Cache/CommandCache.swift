// CommandCache: the folder of --cache, with stored responses that later runs use.

import LupineCache
import LupineCacheStore
import LupineEngine
import LupineLibc

/// The command's HTTP cache in a folder. It doesn't store a response if its request has credentials or cookies, or if it sets a
/// cookie, because another run of the command may act for another user.
final class CommandCache: Sendable {
  /// The maximum total size of the cache's files in bytes: 256 MiB. For comparison, Chrome uses up to 320 MiB.
  static let capacity = 256 << 20

  let store: DiskStore

  init(folder: String) throws(CommandError) {
    do {
      store = try DiskStore(folder: folder, capacity: Self.capacity)
    } catch {
      throw CommandError(.other, "\(folder) can't be used as a cache (\(error)). Check the path of --cache.")
    }
  }

  /// Returns whether the command may use the cache for a request. All runs of the command share the cache, which stores responses
  /// by URL. Therefore, options that send the request to another server, or that change which certificates are trusted or
  /// presented, disable the cache.
  static func isUsable(for request: EngineRequest, _ options: Options, _ engine: Engine) -> Bool {
    let isElsewhere = request.fields.contains("Host") || options.proxy != .environment || options.bypass != nil
    let isPersonal = options.identity != IdentityFiles()
    // A request that authenticates a connection must be sent.
    return !isElsewhere && !engine.hasOwnTrustOrRoute && !isPersonal && request.connectionDemand == nil
  }

  /// The current time in seconds since 1970.
  var now: Int64 { Int64(time(nil)) }

  /// Returns the parts of a request from which the cache decides how to answer it.
  func request(_ request: EngineRequest) -> CacheRequest {
    var cached = CacheRequest(method: request.method, uri: request.uri, fields: request.fields)
    if !request.body.isEmpty { cached.content = .present }
    cached.completedBytesMax = .max
    return cached
  }

  /// Returns the stored responses for a request, with the open files of their bodies. Skips a response with a content coding if its
  /// body isn't stored in the form that the caller needs: decoded if `isDecoded` is true, otherwise as received.
  func lookup(_ request: CacheRequest, isDecoded: Bool) -> [RecordReader] {
    var records: [RecordReader] = []
    store.forEachRecord(of: request.uri.cacheKey.text) { record in
      if !record.response.fields.contains("Content-Encoding") || (record.response.bodyForm == .decoded) == isDecoded {
        records.append(record)
      }
    }
    return records
  }

  /// Removes the stored responses that a response to an unsafe method, such as POST, invalidates.
  func invalidate(after head: ResponseHead, to request: CacheRequest) {
    for uri in Invalidation.targets(of: request, status: head.status, fields: head.fields) {
      store.removeAll(for: uri.cacheKey.text)
    }
  }

  /// Applies changes to the stored responses of a request, for example after a 304: replaces their metadata, marks them as
  /// invalidated, or removes them. Also removes a response whose latest exchange used credentials or set a cookie.
  func apply(_ updates: [StoredUpdate], to records: [RecordReader]) {
    for update in updates {
      let record = records[update.index]
      switch update.change {
      case .replace(let new) where new.partition == .anonymous:
        // If this fails because the disk is full, the record keeps its old metadata, so the next request validates it again.
        _ = replace(record.id, with: new)
      case .replace, .remove: store.remove(record.id)
      case .invalidate:
        var invalidated = record.response
        invalidated.state = .invalidated
        // If the record can't be marked as invalid, it is removed, because it would still be served.
        if !replace(record.id, with: invalidated) { store.remove(record.id) }
      }
    }
  }

  /// Replaces the metadata of a stored response. Returns false if that fails, for example because the disk is full.
  private func replace(_ id: UInt64, with response: StoredResponse) -> Bool {
    (try? store.replace(id, with: response, newID: .random(in: .min ... .max))) != nil
  }
}
