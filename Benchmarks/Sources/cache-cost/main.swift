// cache-cost: the CPU time of a request that the cache answers, compared with one over loopback, and the time of lookups and
// evictions with few and with many entries.
//
//   cache-cost URL
//
// The URL's server must send a cacheable body of 10 KiB; Benchmarks/cache starts one.

import Foundation
import Glibc
import Lupine

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: cache-cost URL")
  exit(2)
}

let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-cache-cost-\(UUID())")
defer { try? FileManager.default.removeItem(at: folder) }

let requests = 5_000
let loopback = try await cost(of: requests, nil)
let memory = try await cost(of: requests, URLCache(memoryCapacity: 10_000_000, diskCapacity: 0))
let disk = try await cost(
  of: requests, URLCache(memoryCapacity: 0, diskCapacity: 100_000_000, directory: folder))
print("10 KiB, CPU time per request of URLSession.data(for:), one at a time:")
print("  loopback, no cache   \(text(loopback))")
print("  hit in memory        \(text(memory))  \(ratio(memory, loopback)) of loopback")
print("  hit on disk          \(text(disk))  \(ratio(disk, memory)) of memory")

let places: [(String, URL?)] = [("in memory", nil), ("in files", folder.appending(path: "growth"))]
for (place, files) in places {
  let (few, many) = (try Growth(entries: 100, in: files), try Growth(entries: 100_000, in: files))
  print("URLCache \(place), per operation, with 100 and with 100,000 entries:")
  print("  lookup               \(text(few.lookup))  \(text(many.lookup))  growth \(ratio(many.lookup, few.lookup))")
  let growth = ratio(many.eviction, few.eviction)
  print("  store and evict      \(text(few.eviction))  \(text(many.eviction))  growth \(growth)")
}

/// Returns the processor time that this process has used, in microseconds.
func cpuTime() -> Double {
  var usage = rusage()
  getrusage(RUSAGE_SELF.rawValue, &usage)
  func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
}

func text(_ microseconds: Double) -> String { String(format: "%7.2f µs", microseconds) }

func ratio(_ value: Double, _ base: Double) -> String { String(format: "%.2f", value / base) }

/// Returns the processor time of a request in microseconds: the lowest of five averages over `count` requests. If there is a cache,
/// the session's first request fills it.
func cost(of count: Int, _ cache: URLCache?) async throws -> Double {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.urlCache = cache
  let session = URLSession(configuration: configuration)
  defer { session.invalidateAndCancel() }
  let request = URLRequest(url: url)
  for _ in 0..<200 { try await load(request, in: session) }
  var lowest = Double.infinity
  for _ in 0..<5 {
    let start = cpuTime()
    for _ in 0..<count { try await load(request, in: session) }
    lowest = min(lowest, (cpuTime() - start) / Double(count))
  }
  return lowest
}

func load(_ request: URLRequest, in session: URLSession) async throws {
  let (data, _) = try await session.data(for: request)
  guard data.count == 10_240 else { throw URLError(.badServerResponse) }
}

/// The processor time of a lookup and of an eviction in a cache with `entries` entries, in microseconds.
struct Growth {
  let lookup: Double
  let eviction: Double

  private static let operations = 20_000
  private static let body = Data(repeating: 1, count: 100)

  /// Measures a cache whose entries are in files in the folder `files`, or in memory if it is nil.
  init(entries: Int, in files: URL?) throws {
    // The first cache shows how much room an entry takes, so that the second one has room for exactly `entries`.
    let probe = Self.cache(1_000_000, files?.appending(path: "probe"))
    try Self.store([Self.request(1_000_000)], in: probe)
    let entrySize = Self.usage(of: probe)
    let cache = Self.cache(entrySize * entries, files?.appending(path: "\(entries)"))
    try Self.store((0..<entries).map { try Self.request(1_000_000 + $0) }, in: cache)
    let recent = try (0..<100).map { try Self.request(1_000_000 + entries - 100 + $0) }
    var found = 0
    lookup = Self.lowest { round in
      for number in round { if cache.cachedResponse(for: recent[number % 100]) != nil { found += 1 } }
    }
    precondition(found == 5 * Self.operations, "an entry is missing")
    let fresh = try (0..<5 * Self.operations).map { try Self.request(2_000_000 + $0) }
    let response = try Self.response()
    eviction = Self.lowest { round in Self.store(fresh[round], as: response, in: cache) }
    precondition(Self.usage(of: cache) <= entrySize * entries, "the capacity is exceeded")
    if entries == 100 { precondition(cache.cachedResponse(for: recent[0]) == nil, "no entry was evicted") }
  }

  private static func cache(_ capacity: Int, _ folder: URL?) -> URLCache {
    if let folder { return URLCache(memoryCapacity: 0, diskCapacity: capacity, directory: folder) }
    return URLCache(memoryCapacity: capacity, diskCapacity: 0)
  }

  /// Returns the bytes that the cache's entries take, after all files have been written.
  private static func usage(of cache: URLCache) -> Int { cache.currentMemoryUsage + cache.currentDiskUsage }

  private static func lowest(_ operations: (Range<Int>) -> Void) -> Double {
    (0..<5).map { round in
      let start = cpuTime()
      operations(round * Self.operations..<(round + 1) * Self.operations)
      return (cpuTime() - start) / Double(Self.operations)
    }.min() ?? 0
  }

  private static func request(_ number: Int) throws -> URLRequest {
    guard let url = URL(string: "https://example.com/entries/\(number)") else { throw URLError(.badURL) }
    return URLRequest(url: url)
  }

  private static func response() throws -> CachedURLResponse {
    guard let url = URL(string: "https://example.com/"),
      let head = HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=600"])
    else { throw URLError(.badURL) }
    return CachedURLResponse(response: head, data: body)
  }

  private static func store(_ requests: [URLRequest], in cache: URLCache) throws {
    store(requests[...], as: try response(), in: cache)
  }

  private static func store(_ requests: ArraySlice<URLRequest>, as response: CachedURLResponse, in cache: URLCache) {
    for (number, request) in requests.enumerated() {
      cache.storeCachedResponse(response, for: request)
      // Waits for the files, because the cache drops responses if too many bytes wait to be written.
      if number % 1_000 == 999 { _ = cache.currentDiskUsage }
    }
    _ = cache.currentDiskUsage
  }
}
