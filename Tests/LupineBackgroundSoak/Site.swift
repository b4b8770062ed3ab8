// Site: the origin server of the background soak. It changes its resources, breaks connections and counts uploads.

import Glibc
import LupineOrigin
import LupineRandom
import LupineWire
import Synchronization

/// The origin server of the background soak: serves the downloads, and counts the uploads.
final class Site: Sendable {
  private struct State {
    var versions: [String: Int] = [:]
    /// The number of times that each upload has arrived completely, by the upload's name.
    var arrivals: [String: Int] = [:]
    /// The names of the uploads whose response a worker process has recorded.
    var answered: Set<String> = []
    var problems: [String] = []
    var requestCount: UInt64 = 0
    var resumedCount = 0
    /// The worker process to kill, and the number of steps of this server until then.
    var victim: (process: pid_t, stepsLeft: Int)?
  }

  private let state = Mutex(State())

  /// Returns the bytes of a download or an upload, which depend on its name and version: 1 to 150,000 random bytes.
  static func content(_ name: String, version: Int = 0) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(truncatingIfNeeded: name.hashed &+ version &* 7919))
    var bytes: [UInt8] = []
    let count = random.number(1...150_000)
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = random.next()
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
    }
    return Array(bytes.prefix(count))
  }

  var problems: [String] { state.withLock { $0.problems } }
  var resumedCount: Int { state.withLock { $0.resumedCount } }

  func report(_ problem: String) { state.withLock { $0.problems.append(problem) } }

  func arrivalCount(_ name: String) -> Int { state.withLock { $0.arrivals[name] ?? 0 } }

  /// The number of versions of the resource so far, including the present one.
  func versionCount(_ name: String) -> Int { state.withLock { $0.versions[name] ?? 0 } + 1 }

  /// Marks uploads as completed. If one of them arrives again, the site reports a problem.
  func setAnswered(_ names: some Sequence<String>) { state.withLock { $0.answered.formUnion(names) } }

  /// Replaces the resource with its next version, whose content differs.
  func change(_ name: String) { state.withLock { $0.versions[name, default: 0] += 1 } }

  /// Kills a worker process after `stepCount` more steps of the site. A step is receiving a request or sending part of a response.
  func kill(_ process: pid_t, afterSteps stepCount: Int) {
    state.withLock { $0.victim = (process, stepCount) }
    takeStep()
  }

  /// Cancels the order to kill a worker. Must be called once the worker has ended, because another process may get its process ID.
  func spare() { state.withLock { $0.victim = nil } }

  private func takeStep() {
    state.withLock { state in
      guard let (process, stepsLeft) = state.victim else { return }
      if stepsLeft > 0 {
        state.victim = (process, stepsLeft - 1)
      } else {
        Glibc.kill(process, SIGKILL)
        state.victim = nil
      }
    }
  }

  func serve(_ peer: Peer) throws {
    while let request = try peer.readRequest() {
      takeStep()
      let name = String(request.path.dropFirst())
      var random = state.withLock { state in
        state.requestCount += 1
        return SplitMix64(seed: state.requestCount)
      }
      if request.method == "PUT" {
        try receive(name, request, peer, &random)
      } else {
        try send(name, request, peer, &random)
      }
    }
  }

  private func receive(_ name: String, _ request: ReceivedRequest, _ peer: Peer, _ random: inout SplitMix64) throws {
    guard request.body == Self.content(name) else { return report("\(name) arrived with other bytes") }
    let isKnown = state.withLock { state in
      state.arrivals[name, default: 0] += 1
      return state.answered.contains(name)
    }
    if isKnown { report("\(name) was answered, and arrived again") }
    // Sometimes closes the connection before the response, so that the worker must send the upload again.
    if random.number(0...9) == 0 { return peer.close() }
    let body = Array("answer to \(name)".utf8)
    try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
    // The pause lets a worker process the head before the worker is killed.
    try peer.pause(for: .milliseconds(random.number(0...30)))
    takeStep()
    try peer.send(body)
  }

  private func send(_ name: String, _ request: ReceivedRequest, _ peer: Peer, _ random: inout SplitMix64) throws {
    let version = state.withLock { $0.versions[name] ?? 0 }
    let content = Self.content(name, version: version)
    let tag = "\"\(version)\""
    var first = 0
    if let range = request.fields.first("Range"), request.fields.first("If-Range") == tag,
      let start = Int(range.dropFirst("bytes=".count).dropLast()), start < content.count
    {
      first = start
      state.withLock { $0.resumedCount += 1 }
    }
    let range = first > 0 ? "Content-Range: bytes \(first)-\(content.count - 1)/\(content.count)\r\n" : ""
    try peer.send(
      "HTTP/1.1 \(first > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \(tag)\r\nAccept-Ranges: bytes\r\n\(range)"
        + "Content-Length: \(content.count - first)\r\n\r\n")
    let breaksAt = random.number(0...4) == 0 ? random.number(first...content.count) : content.count
    var offset = first
    while offset < breaksAt {
      let end = min(breaksAt, offset + 16_384)
      try peer.send(Array(content[offset..<end]))
      offset = end
      try peer.pause(for: .milliseconds(random.number(0...20)))
      takeStep()
    }
    if breaksAt < content.count { peer.close() }
  }
}

extension String {
  /// A hash of the string that, unlike `hashValue`, is the same in each process.
  fileprivate var hashed: Int { utf8.reduce(5381) { $0 &* 33 &+ Int($1) } }
}
