// URLCache: Foundation's interface to the responses stored in memory and on disk.

public import Foundation
internal import LupineCache
internal import LupineCacheStore
internal import LupineEngine
internal import Synchronization

// Unchecked because the class is open. All state is in the stores, which have locks.
/// A cache of responses to requests, in memory and in files.
///
/// The cache is a private cache in the sense of RFC 9111: it belongs to the user of the program. It stores the responses to `GET`
/// that RFC 9111 §3 allows a private cache to store. If a response has a `Vary` field, its variants are stored separately. When the
/// capacity is exceeded, the least recently used responses are removed. Several processes can use the same directory.
///
/// The files are not encrypted. They contain the responses, and the values of the request fields that `Vary` names. Only the user
/// that runs the process can read the files. Sessions write files asynchronously, so that no request waits for the disk. In
/// contrast, the methods of this class return only after the files have been written.
///
/// Data tasks use the cache in their session's ``URLSessionConfiguration/urlCache``. They access the stored responses directly and
/// don't call methods that a subclass overrides. A delegate can decide which responses are stored, in
/// `urlSession(_:dataTask:willCacheResponse:)`.
open class URLCache: NSObject, @unchecked Sendable {
  /// Where a cache may store a response: in memory and on disk, in memory only, or not at all.
  public enum StoragePolicy: UInt, Sendable {
    /// The cache may store the response in memory and on disk.
    case allowed = 0
    /// The cache may store the response in memory only.
    case allowedInMemoryOnly = 1
    /// The cache must not store the response.
    case notAllowed = 2
  }

  /// The maximum memory for responses in ``shared``, in bytes: 4 MiB, as in Foundation on Linux.
  static let sharedMemoryCapacity = 4 << 20
  /// The maximum disk space for responses in ``shared``, in bytes: 20 MiB, as in Foundation on Linux.
  private static let sharedDiskCapacity = 20 << 20

  private static let sharedCache = Mutex<URLCache?>(nil)

  /// The cache that default session configurations use. To replace this cache, set the property before it is read for the first
  /// time.
  open class var shared: URLCache {
    get {
      sharedCache.withLock { cache in
        if let cache { return cache }
        let new = URLCache(memoryCapacity: sharedMemoryCapacity, diskCapacity: sharedDiskCapacity)
        cache = new
        return new
      }
    }
    set {
      // The previous cache is released outside the lock, because the deinitializer of a subclass may read this property.
      withExtendedLifetime(sharedCache.withLock { exchange(&$0, with: newValue) }) {}
    }
  }

  /// The stored responses, which sessions access directly. Only initializers set this property.
  ///
  /// The property is a variable because the internal initializers call a public initializer and then replace the value that it has
  /// set. The internal initializers must be convenience initializers: if a designated initializer weren't public, programs couldn't
  /// create subclasses.
  private(set) var stores: CacheStores

  /// Creates a cache whose files are in a directory.
  ///
  /// - Parameters:
  ///   - memoryCapacity: The maximum memory for stored responses in bytes, or 0 to store nothing in memory.
  ///   - diskCapacity: The maximum total size of the files in bytes, or 0 to store nothing on disk.
  ///   - directory: The directory for the files, which only this user can access. If nil, the cache uses a directory with the
  ///     program's name in the user's caches directory.
  public init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
    stores = CacheStores(
      memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
      folder: { (directory ?? URLCache.defaultDirectory(named: nil)).path }, clock: { Date() },
      warn: directory == nil ? nil : URLError.warn)
    super.init()
  }

  /// Creates a cache whose files are in the directory at a path.
  ///
  /// - Parameters:
  ///   - memoryCapacity: The maximum memory for stored responses in bytes, or 0 to store nothing in memory.
  ///   - diskCapacity: The maximum total size of the files in bytes, or 0 to store nothing on disk.
  ///   - path: The path of the directory, absolute or relative to the user's caches directory. If nil, the directory has the
  ///     program's name.
  public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
    stores = CacheStores(
      memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
      folder: {
        (path.flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil } ?? URLCache.defaultDirectory(named: path)).path
      }, clock: { Date() }, warn: path == nil ? nil : URLError.warn)
    super.init()
  }

  /// Creates a cache whose files are in a folder. `now` returns the current time, and `warn` is called once, when the
  /// folder can't be used.
  convenience init(
    memoryCapacity: Int, diskCapacity: Int, folder: String, now: @escaping @Sendable () -> Date,
    warn: (@Sendable (URLError) -> Void)? = nil
  ) {
    self.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
    stores = CacheStores(
      memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, folder: { folder }, clock: now, warn: warn)
  }

  /// Creates a cache that stores responses only in memory.
  convenience init(inMemory memoryCapacity: Int) {
    self.init(memoryCapacity: memoryCapacity, diskCapacity: 0, directory: nil)
  }

  private static func defaultDirectory(named name: String?) -> URL {
    let caches =
      FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    return caches.appending(path: name ?? ProcessInfo.processInfo.processName)
  }

  /// The maximum memory for stored responses, in bytes. Setting a lower value immediately removes the least recently used responses
  /// that exceed it.
  open var memoryCapacity: Int {
    get { stores.memory.capacity }
    set { stores.memory.capacity = newValue }
  }

  /// The maximum disk space for the files of stored responses, in bytes. Even a small response occupies a block of 4,096 bytes.
  /// Setting a lower value removes the least recently used responses that exceed it.
  open var diskCapacity: Int {
    get { stores.diskCapacity }
    set {
      stores.diskCapacity = newValue
      stores.waitForFiles {}
    }
  }

  /// The estimated memory that the cached responses occupy, in bytes.
  open var currentMemoryUsage: Int { stores.memory.byteCount }

  /// The disk space that the files of cached responses occupy, in bytes. A multiple of 4,096.
  open var currentDiskUsage: Int { stores.waitForFiles { stores.disk?.byteCount ?? 0 } }

  /// The reason why the cache can't use its directory, and stores responses in memory only. Nil if it can use the directory, or if
  /// ``diskCapacity`` is 0. Foundation doesn't have this property.
  ///
  /// The error's text contains the system's reason and a remedy. The property opens the directory if that hasn't been tried yet, so
  /// a program can check its cache when it starts. After a failure, the cache tries again after a minute. If the program has named
  /// the directory, the first failure is also written to standard error.
  public var diskFailure: (any Error)? { stores.waitForFiles { stores.diskFailure } }

  /// Returns the cached response to a request, whether or not the response is fresh. Returns nil if none is cached.
  ///
  /// The response must have been stored for the same URL (ignoring the fragment), and for the same values of the request fields
  /// that its `Vary` field names. `Accept`, `Accept-Encoding`, `Accept-Language` and `User-Agent`, which sessions add, match any
  /// value if `request` lacks them.
  ///
  /// Responses that belong to one session aren't returned: those that it requested with credentials, those that set cookies, and
  /// those that depend on its own trust in servers or its own route. Parts of a representation (206) aren't returned either.
  open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    guard let key = RequestKey(request) else { return nil }
    let found = stores.foundInMemory(key.cacheKey).filter { !$0.response.isPartial }
    if let index = key.request.selection(among: found.map(\.response)),
      case .memory(let id, let cached) = found[index].body
    {
      stores.memory.use(id)
      return cached
    }
    return stores.waitForFiles {
      let found = stores.found(key.cacheKey).filter { !$0.response.isPartial }
      guard let index = key.request.selection(among: found.map(\.response)) else { return nil }
      switch found[index].body {
      case .memory(_, let cached): return cached
      case .file(let id, let file):
        return stores.open(id, file).flatMap { stores.load($0, of: key.cacheKey, for: key.url) }
      }
    }
  }

  /// Stores a response in place of an earlier response to the same request.
  ///
  /// If the response's `Vary` names fields that sessions add, such as `Accept-Encoding`, and `request` lacks them, the response
  /// answers requests with any value of these fields.
  ///
  /// Only responses to `GET` requests without a body are stored, and only if the response's storage policy and RFC 9111 §3 permit
  /// it. For example, a response that is incomplete or has `no-store` isn't stored. A response to a request with credentials, or a
  /// response that sets cookies, is stored only in memory. The `userInfo` is also stored only in memory.
  open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
    guard cachedResponse.storagePolicy != .notAllowed, let key = RequestKey(request),
      let response = cachedResponse.response as? HTTPURLResponse
    else { return }
    let now = stores.now
    let (fields, bodyForm) = response.stored(with: cachedResponse.data)
    let decision = StoreDecision(
      key.request, status: response.statusCode, fields: fields, times: ExchangeTimes(request: now, response: now),
      bodyForm: bodyForm)
    guard case .store(let new) = decision else { return }
    stores.store(cachedResponse, as: new.withBody(byteCount: UInt64(cachedResponse.data.count)), to: key.request)
    stores.waitForFiles {}
  }

  /// Removes all cached responses for the request's URL, including those that belong to only one session.
  open func removeCachedResponse(for request: URLRequest) {
    guard let key = RequestKey(request) else { return }
    stores.removeAll(for: key.cacheKey)
    stores.waitForFiles {}
  }

  /// Removes all cached responses, including those that other processes have stored in the cache's directory. If ``diskCapacity``
  /// is 0 and the directory hasn't been used, its files remain.
  open func removeAllCachedResponses() {
    stores.removeAll()
    stores.waitForFiles {}
  }

  /// Removes the cached responses that were received at or after the given date. Both times are rounded down to whole seconds.
  /// Responses on disk that can't be opened because the process has no descriptors left aren't removed.
  open func removeCachedResponses(since date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    stores.removeAll { Double($0.times.response) >= seconds }
    stores.waitForFiles {}
  }

  /// A textual description of the cache: the current usage and the capacities, in memory and on disk.
  open override var description: String {
    let (memory, disk) = (ReadableText.bytes(Int64(currentMemoryUsage)), ReadableText.bytes(Int64(currentDiskUsage)))
    return "\(type(of: self)): \(memory) of \(ReadableText.bytes(Int64(memoryCapacity))) in memory, "
      + "\(disk) of \(ReadableText.bytes(Int64(diskCapacity))) on disk"
  }
}

/// The key under which the responses to a request are stored, and the request in the form that the cache's decisions use.
private struct RequestKey {
  let url: URL
  let cacheKey: CacheKey
  let request: CacheRequest

  /// Creates the key of a request. Returns nil if the cache never stores responses to the request, because its URL isn't http or
  /// https, its method isn't GET or HEAD, or it has a body.
  init?(_ request: URLRequest) {
    guard let url = request.url, let uri = try? URI(url.absoluteString), case .none = request.body,
      let method = request.httpMethod, method == "GET" || method == "HEAD"
    else { return nil }
    self.url = url
    cacheKey = uri.cacheKey
    // What a program has stored for a request with credentials is returned only for the same credentials.
    let credentials = ["Authorization", "Cookie"].flatMap { name in request.fields.all(name).map { "\(name): \($0)" } }
    var cached = CacheRequest(
      method: method, uri: uri, fields: request.fields, session: credentials.joined(separator: "\n"))
    // The request doesn't say which session sends it, and so which fields are added.
    cached.lacksSessionFields = true
    self.request = cached
  }
}
