// A soak: clients who send until the time is over, servers that are restarted, and somebody who looks at the process.

import Foundation
import Lupine
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

/// Mixed traffic for a time, and its verdict.
final class Soak: Sendable {
  /// How many send at a time.
  private static let clientCount = 16
  /// How long a client waits between two requests, so that others on the machine can work, too.
  private static let pauseMicroseconds = 25_000
  /// How long requests may take to end when the time is over: longer than their own limit, and the end of a session.
  private static let graceSeconds = 90

  let samples: Samples
  /// Seconds that the process is given until it may not grow any more: a quarter of the time.
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
    // A request that a fault of ours loses has to be noticed within a short run.
    configuration.timeoutIntervalForRequest = 30
    configuration.engine.tls.trustRoots = [.pem(servers.identity.authorityPEM)]
    configuration.engine.proxy = .none
    return configuration
  }

  func run() async -> Verdict {
    let before = ProcessState.now
    let end = ContinuousClock.now + .seconds(seconds)
    // A request that is lost would be waited for without end.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds + Self.graceSeconds)) { [ledger] in
      print("PROBLEM: these never ended: \(ledger.counts.open)")
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
    // The session has gone with the tasks; its threads end, and what it had is closed.
    let isGone = await settles {
      ProcessState.engineThreadCount == 0 && ProcessState.now.descriptors <= before.descriptors
    }
    return Verdict(
      samples: samples.all, warmUp: warmUp, counts: ledger.counts, restarts: servers.restartCount,
      left: isGone ? [] : ["\(ProcessState.engineThreadCount) threads, \(ProcessState.now) instead of \(before)"],
      files: files)
  }

  /// The temporary files that are left; the folder itself and what is uploaded are the soak's own.
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
    // 240 points make a curve, and more than four a second would be a load of their own.
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
      do { try servers.restart() } catch { ledger.note(problem: "a server wasn't restarted: \(error)") }
    }
  }
}

/// What became of every request.
final class Ledger: Sendable {
  struct Counts: Sendable {
    var begun = 0
    var right: [Traffic: Int] = [:]
    var interrupted = 0
    var problems: [String] = []
    /// Those that haven't ended, by their number.
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

/// Waits; nobody is kept from working meanwhile.
func pause(microseconds: Int) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { continuation.resume() }
  }
}

/// Whether the condition comes to hold within half a minute; no event tells.
private func settles(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<3_000 {
    if condition() { return true }
    await pause(microseconds: 10_000)
  }
  return condition()
}
