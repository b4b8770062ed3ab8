// Soak: clients that send requests until a deadline, servers that are restarted, and measurements of the process.

import Foundation
import Lupine
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

/// A soak test: sends requests of all kinds for a given time, restarts the servers meanwhile, and judges the result.
final class Soak: Sendable {
  /// The number of clients that send requests concurrently.
  private static let clientCount = 16
  /// The pause of a client between two requests, in microseconds. It leaves processor time to other programs.
  private static let pauseMicroseconds = 25_000
  /// The time in seconds for requests that are in flight at the end. It exceeds their own limit and the time to release a session.
  private static let graceSeconds = 90

  let samples: Samples
  /// The length of the first quarter of the soak test, in seconds. After this time, the process must not grow any more.
  let warmUp: Double
  private let seconds: Int
  private let seed: UInt64
  private let folder: URL
  private let servers: SoakServers
  private let ledger = Ledger()

  init(seconds: Int, seed: UInt64, folder: URL) throws {
    self.seconds = seconds
    self.seed = seed
    self.folder = folder
    warmUp = Double(seconds) / 4
    servers = try SoakServers()
    samples = Samples()
    try Traffic.bigBody.write(to: folder.appending(path: "body"))
  }

  static func configuration(_ servers: SoakServers) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.af.ephemeral
    // The limit is short, so that even a short run detects a request that a bug has lost.
    configuration.timeoutIntervalForRequest = 30
    configuration.engine.tls.trustRoots = [.pem(servers.identity.authorityPEM)]
    configuration.engine.proxy = .none
    return configuration
  }

  func run() async -> Verdict {
    let before = ProcessState.now
    let end = ContinuousClock.now + .seconds(seconds)
    // Without this limit, the process would wait for a lost request forever.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds + Self.graceSeconds)) { [ledger] in
      print("PROBLEM: requests that never ended: \(ledger.counts.open)")
      exit(1)
    }
    await withTaskGroup { group in
      let session = Session(configuration: Self.configuration(servers))
      for index in 0..<Self.clientCount {
        group.addTask { await self.client(index, session, until: end) }
      }
      group.addTask { await self.watch(until: end) }
      group.addTask { await self.restartServers(until: end) }
    }
    servers.stop()
    // The session is released with the tasks. Then its threads end, and its connections are closed.
    let isGone = await settles(within: .seconds(30), every: .milliseconds(10)) {
      ProcessState.engineThreadCount == 0 && ProcessState.now.descriptors <= before.descriptors
    }
    return Verdict(
      samples: samples.all, warmUp: warmUp, counts: ledger.counts, restarts: servers.restartCount,
      left: isGone ? [] : ["\(ProcessState.engineThreadCount) threads, \(ProcessState.now) instead of \(before)"],
      files: files)
  }

  /// The names of temporary files that are left, except the folder itself and the file for uploads.
  private var files: [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { name in
      var isFolder: ObjCBool = false
      return name != "body" && FileManager.default.fileExists(atPath: folder.path + "/" + name, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  private func client(_ index: Int, _ session: Session, until end: ContinuousClock.Instant) async {
    var random = SplitMix64(seed: seed &* 1_000 &+ UInt64(index))
    while ContinuousClock.now < end {
      let kind = Traffic.allCases[Int(random.next() % UInt64(Traffic.allCases.count))]
      let start = ContinuousClock.now
      let number = ledger.begin(kind)
      let fate = await kind.send(session, servers, folder, number: number)
      ledger.end(kind, number, fate)
      if kind != .cancel { samples.note(latency: ContinuousClock.now - start) }
      await pause(microseconds: Self.pauseMicroseconds)
    }
  }

  private func watch(until end: ContinuousClock.Instant) async {
    let start = ContinuousClock.now
    // 240 samples are enough for a curve. More than four samples per second would affect the measurement.
    let step = max(seconds * 1_000_000 / 240, 250_000)
    while ContinuousClock.now < end {
      await pause(microseconds: step)
      samples.take(at: ContinuousClock.now - start, ledger.endedCount)
    }
  }

  private func restartServers(until end: ContinuousClock.Instant) async {
    let step = max(seconds * 1_000_000 / 40, 1_500_000)
    while ContinuousClock.now + .microseconds(step) < end {
      await pause(microseconds: step)
      do { try servers.restart() } catch { ledger.note(problem: "a server couldn't be restarted: \(error)") }
    }
  }
}

/// Counts the requests of a soak test and their outcomes.
final class Ledger: Sendable {
  struct Counts: Sendable {
    var begun = 0
    var right: [Traffic: Int] = [:]
    var interrupted = 0
    var problems: [String] = []
    /// The requests that haven't ended yet, by number.
    var open: [UInt64: Traffic] = [:]
  }

  private let state = Mutex(Counts())

  var counts: Counts { state.withLock { $0 } }
  var endedCount: Int { state.withLock { $0.begun - $0.open.count } }

  func begin(_ kind: Traffic) -> UInt64 {
    state.withLock { state in
      state.begun += 1
      state.open[UInt64(state.begun)] = kind
      return UInt64(state.begun)
    }
  }

  func end(_ kind: Traffic, _ number: UInt64, _ fate: Traffic.Fate) {
    state.withLock { state in
      if state.open.removeValue(forKey: number) == nil { state.problems.append("\(kind) \(number) ended twice") }
      switch fate {
      case .right: state.right[kind, default: 0] += 1
      case .interrupted: state.interrupted += 1
      case .wrong(let words): state.problems.append("\(kind) \(number): \(words)")
      }
    }
  }

  func note(problem: String) { state.withLock { $0.problems.append(problem) } }
}

/// Suspends the task for the given time without blocking a thread.
func pause(microseconds: Int) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { continuation.resume() }
  }
}
