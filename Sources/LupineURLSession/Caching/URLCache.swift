// URLCache: Foundation's API over the stores in memory and on disk.

public import Foundation
internal import LupineCache
internal import LupineCacheStore
internal import LupineEngine
internal import Synchronization

// Unchecked because the class is open. All state is in stores with locks, or protected by a Mutex.
/// Stored responses to requests, in memory and in files.
///
/// The cache is private: it belongs to the user of the program. It stores the responses to `GET` that RFC 9111 §3 allows a
/// private cache to store. Variants that `Vary` distinguishes are stored separately. When a capacity is exceeded, the least
/// recently used responses are removed. Several processes can use the same directory.
///
/// The files contain the responses, and the values of the request fields that `Vary`
/// names, unencrypted. Only this user can read them.
///
/// Sessions don't use the cache yet. It contains what the program stores with `storeCachedResponse(_:for:)`.
open class URLCache: NSObject, @unchecked Sendable {
  /// The places in which a response may be stored.
  public enum StoragePolicy: UInt, Sendable {
    /// In memory and on disk.
    case allowed = 0
    /// In memory only.
    case allowedInMemoryOnly = 1
    /// Nowhere.
    case notAllowed = 2
  }

  /// The default capacity of the shared cache in memory: 4 MiB, as in Foundation on Linux.
  private static let sharedMemoryCapacity = 4 << 20
  /// The default capacity of the shared cache on disk: 20 MiB, as in Foundation on Linux.
  private static let sharedDiskCapacity = 20 << 20

  private static let sharedCache = Mutex<URLCache?>(nil)

  /// The cache that the parts of a program share. To replace it, set another cache before its first use.
  open class var shared: URLCache {
    get {
      sharedCache.withLock { cache in
        if let cache { return cache }
        let new = URLCache(memoryCapacity: sharedMemoryCapacity, diskCapacity: sharedDiskCapacity)
        cache = new
        return new
      }
    }
    set { sharedCache.withLock { $0 = newValue } }
  }

  /// The state of the folder for records.
  private enum Disk {
    /// The folder is opened when it is first needed and its capacity isn't 0.
    case closed
    case open(DiskStore)
    /// The folder can't be created or read. Responses are kept only in memory.
    case unusable
  }

  private struct DiskState {
    var disk = Disk.closed
    var capacity: Int
  }

  private let memory: MemoryStore<CachedURLResponse>
  private let folder: String
  private let diskState: Mutex<DiskState>
  private let now: @Sendable () -> Date

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - memoryCapacity: The maximum memory in bytes, or 0 to store nothing in memory.
  ///   - diskCapacity: The maximum size of the files in bytes, or 0 to store nothing on disk.
  ///   - directory: The directory of the files, which only this user can access. If it is nil, the cache uses a directory with
  ///     the program's name in the user's caches directory.
  public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
    self.init(
      memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
      folder: (directory ?? Self.defaultDirectory(named: nil)).path, now: { Date() })
  }

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - memoryCapacity: The maximum memory in bytes, or 0 to store nothing in memory.
  ///   - diskCapacity: The maximum size of the files in bytes, or 0 to store nothing on disk.
  ///   - path: The path of the directory, absolute or relative to the user's caches
  ///     directory. If it is nil, the program's name is used.
  public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    let directory = path.flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil } ?? Self.defaultDirectory(named: path)
    self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, folder: directory.path, now: { Date() })
  }

  init(memoryCapacity: Int, diskCapacity: Int, folder: String, now: @escaping @Sendable () -> Date) {
    memory = MemoryStore(capacity: memoryCapacity)
    self.folder = folder
    diskState = Mutex(DiskState(capacity: max(0, diskCapacity)))
    self.now = now
    super.init()
  }

  private static func defaultDirectory(named name: String?) -> URL {
    let caches =
      FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    return caches.appending(path: name ?? ProcessInfo.processInfo.processName)
  }

  /// The maximum memory in bytes. Setting a lower value removes responses immediately.
  open var memoryCapacity: Int {
    get { memory.capacity }
    set { memory.capacity = newValue }
  }

  /// The maximum size of the files in bytes. Setting a lower value removes responses immediately.
  open var diskCapacity: Int {
    get { diskState.withLock { $0.capacity } }
    set {
      let opened = diskState.withLock { state in
        state.capacity = max(0, newValue)
        return if case .open(let store) = state.disk { store } else { nil as DiskStore? }
      }
      opened?.capacity = max(0, newValue)
    }
  }

  /// The estimated memory that the stored responses occupy, in bytes.
  open var currentMemoryUsage: Int { memory.byteCount }

  /// The size of the files in bytes.
  open var currentDiskUsage: Int { disk?.byteCount ?? 0 }

  /// The store on disk, or nil if there is none. It is opened at its first use.
  private var disk: DiskStore? {
    let (current, capacity) = diskState.withLock { ($0.disk, $0.capacity) }
    switch current {
    case .open(let store): return store
    case .unusable: return nil
    case .closed:
      guard capacity > 0 else { return nil }
      // Reading the folder takes time, so it isn't done under the lock. If two threads open it, the first result is used.
      let opened = (try? DiskStore(folder: folder, capacity: capacity)).map(Disk.open) ?? .unusable
      return diskState.withLock { state in
        if case .closed = state.disk { state.disk = opened }
        return if case .open(let store) = state.disk { store } else { nil }
      }
    }
  }

  /// Returns the stored response to a request, whether or not it is fresh, or nil if there is none.
  ///
  /// The response must have been stored for the URL, without its fragment, and for the same values of the fields that
  /// its `Vary` names.
  open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    guard let key = CacheKey(request) else { return nil }
    let records = memory.records(for: key.uri)
    if let index = key.request.selection(among: records.map(\.record.response)) {
      memory.use(records[index].id)
      return records[index].record.content
    }
    return storedOnDisk(key)
  }

  private func storedOnDisk(_ key: CacheKey) -> CachedURLResponse? {
    guard let disk else { return nil }
    var found: [(id: UInt64, response: StoredResponse)] = []
    disk.forEachRecord(of: key.uri) { found.append(($0.id, $0.response)) }
    guard let index = key.request.selection(among: found.map(\.response)), let reader = disk.open(found[index].id)
    else {
      return nil
    }
    var data = Data()
    for number in 0..<reader.blockCount {
      guard let block = try? reader.block(number) else {
        disk.remove(reader.id)
        return nil
      }
      data.append(contentsOf: block)
    }
    let stored = reader.response
    let response = HTTPURLResponse(
      url: key.url, statusCode: stored.status, fields: stored.fields, isContentDecoded: stored.bodyForm == .decoded)
    let cached = CachedURLResponse(response: response, data: data)
    memory.insert(MemoryStore.Record(uri: key.uri, response: stored, content: cached)) { $0 == stored }
    return cached
  }

  /// Stores a response, and replaces an earlier response to the same request.
  ///
  /// Nothing is stored if the request isn't a `GET` without a body, if the response isn't a complete HTTP response
  /// that RFC 9111 §3 allows to be stored (for example, because it has `no-store`), or if its storage policy forbids
  /// storing it. The user info is kept only in memory.
  open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
    guard cachedResponse.storagePolicy != .notAllowed, let key = CacheKey(request),
      let response = cachedResponse.response as? HTTPURLResponse
    else { return }
    let now = Int64(now().timeIntervalSince1970.rounded(.down))
    let decision = StoreDecision(
      key.request, status: response.statusCode, fields: response.fields,
      times: ExchangeTimes(request: now, response: now),
      bodyForm: response.isContentDecoded ? .decoded : .received)
    guard case .store(let new) = decision else { return }
    let stored = new.withBody(byteCount: UInt64(cachedResponse.data.count))
    memory.insert(MemoryStore.Record(uri: key.uri, response: stored, content: cachedResponse)) {
      $0.isSuperseded(by: stored, to: key.request)
    }
    if cachedResponse.storagePolicy == .allowed {
      // If writing fails, for example because the disk is full, the response is kept only in memory.
      try? writeToDisk(cachedResponse.data, stored, key)
    } else {
      // An earlier response on disk must not reappear when this response has been removed from memory.
      disk?.removeAll(for: key.uri)
    }
  }

  private func writeToDisk(_ data: Data, _ response: StoredResponse, _ key: CacheKey) throws(DiskStoreError) {
    guard let disk else { return }
    let writer = try disk.writer(uri: key.uri, response: response, id: .random(in: .min ... .max))
    var rest = data[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(RecordFormat.blockByteCount))
      try writer.append(part.span)
      rest = rest.dropFirst(part.count)
    }
    try writer.commit { $0.isSuperseded(by: response, to: key.request) }
  }

  /// Removes all stored responses for the request's URL.
  open func removeCachedResponse(for request: URLRequest) {
    guard let key = CacheKey(request) else { return }
    memory.removeAll(for: key.uri)
    disk?.removeAll(for: key.uri)
  }

  /// Removes all stored responses, including those that other processes have stored in the directory.
  open func removeAllCachedResponses() {
    memory.removeAll { _ in true }
    try? disk?.removeAll()
  }

  /// Removes the responses that were received at or after a date, in whole seconds.
  open func removeCachedResponses(since date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    memory.removeAll { Double($0.times.response) >= seconds }
    disk?.removeAll { Double($0.times.response) >= seconds }
  }

  /// The usage and the capacities.
  open override var description: String {
    "\(type(of: self)): \(ReadableText.bytes(Int64(currentMemoryUsage))) of \(ReadableText.bytes(Int64(memoryCapacity)))"
      + " in memory, \(ReadableText.bytes(Int64(currentDiskUsage))) of \(ReadableText.bytes(Int64(diskCapacity))) on disk"
  }
}

/// The key under which the response to a request is stored.
private struct CacheKey {
  let url: URL
  let uri: String
  let request: CacheRequest

  /// Creates the key of a request. Returns nil if responses to the request aren't stored, because its URL isn't http or https,
  /// its method isn't GET or HEAD, or it has a body.
  init?(_ request: URLRequest) {
    guard let url = request.url, let uri = try? URI(url.absoluteString), case .none = request.body,
      let method = request.httpMethod, method == "GET" || method == "HEAD"
    else { return nil }
    self.url = url
    self.uri = uri.cacheKey
    self.request = CacheRequest(method: method, uri: uri, fields: request.fields)
  }
}
