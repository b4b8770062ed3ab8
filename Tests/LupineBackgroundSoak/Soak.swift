// Soak: rounds of transfers by workers that are killed at random steps.

import Foundation
import LupineOrigin
import LupineRandom
import LupineTestSupport
import LupineTransferStore

/// Runs rounds of background transfers until the time is over. In each round, several worker processes are killed, and a last one
/// completes the remaining transfers. Then every file must have arrived.
struct Soak {
  private let seconds: Int
  private let transferCount: Int
  private let folder: String
  private let site = Site()

  /// The time after which a worker process that hasn't ended is aborted, in seconds: 120.
  private static let workerSecondsMax = 120
  /// The number of worker processes that are killed in each round.
  private static let killedCount = 6
  /// A worker is killed after at most this number of the site's steps per transfer. A transfer takes at least two steps, so the six
  /// killed workers of a round can't complete all transfers, however slow the machine is.
  private static let killedStepsPerTransferMax = 0.3

  init(seconds: Int, transferCount: Int) throws {
    self.seconds = seconds
    self.transferCount = transferCount
    folder = "/tmp/lupine-background-soak-\(getpid())"
  }

  /// Runs the soak. Returns true if every transfer has arrived and no problem was reported.
  func run() throws -> Bool {
    for name in ["done", "uploads"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let origin = try OriginServer { [site] peer in try site.serve(peer) }
    defer { origin.stop() }
    let end = Date(timeIntervalSinceNow: Double(seconds))
    var random = SplitMix64(seed: UInt64(getpid()))
    var (rounds, kills) = (0, 0)
    repeat {
      rounds += 1
      let names = (0..<transferCount).map { "\($0 % 2 == 0 ? "d" : "u")\(rounds)-\($0)" }
      for name in names where name.hasPrefix("u") {
        try Data(Site.content(name)).write(to: URL(filePath: "\(folder)/uploads/\(name)"))
      }
      for _ in 0..<Self.killedCount {
        let worker = try start(names, origin.url)
        let stepsMax = Int(Double(transferCount) * Self.killedStepsPerTransferMax)
        site.kill(worker.processIdentifier, afterSteps: random.number(0...stepsMax))
        kills += awaitEnd(of: worker) == 128 + SIGKILL ? 1 : 0
        site.spare()
        try noteAnswered(names)
        for name in names where random.number(0...19) == 0 { site.change(name) }
      }
      try finish(names, origin.url)
      try check(names)
    } while Date() < end && site.problems.isEmpty
    if kills < rounds * Self.killedCount { site.report("only \(kills) workers were killed; the others ended before") }
    print("\(rounds) rounds of \(transferCount) transfers, \(kills) kills, \(site.resumedCount) resumed downloads")
    for problem in site.problems.prefix(20) { print("problem: \(problem)") }
    return site.problems.isEmpty
  }

  private func start(_ names: [String], _ url: String) throws -> ChildProcess {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return try ChildProcess([program, "work", folder, url] + names)
  }

  /// Runs a worker process that isn't killed, until it has completed all transfers.
  private func finish(_ names: [String], _ url: String) throws {
    let status = awaitEnd(of: try start(names, url))
    if status != 0 { site.report("the last worker ended with the status \(status)") }
  }

  /// Waits until the worker process has ended, and returns its status. Aborts a worker that takes too long.
  private func awaitEnd(of worker: ChildProcess) -> Int32 {
    let identifier = worker.processIdentifier
    let limit = DispatchWorkItem { kill(identifier, SIGABRT) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.workerSecondsMax), execute: limit)
    defer { limit.cancel() }
    return worker.awaitEnd()
  }

  private var store: String { "\(folder)/sessions/\(Worker.identifier)" }

  /// Tells the site which uploads are complete: those whose response is recorded in the session's records, or in a file that a
  /// worker has written.
  private func noteAnswered(_ names: [String]) throws {
    let records = try TransferStore(folder: store)
    defer { records.close() }
    if !records.damagedIDs.isEmpty { site.report("damaged records: \(records.damagedIDs)") }
    let answered = records.recovered.filter { record in
      record.description.kind != .download && record.progress.stage.rawValue >= TransferProgress.Stage.answered.rawValue
    }
    site.setAnswered(answered.compactMap(\.description.taskDescription))
    site.setAnswered(
      names.filter { $0.hasPrefix("u") && FileManager.default.fileExists(atPath: "\(folder)/done/\($0)") })
  }

  private func check(_ names: [String]) throws {
    for name in names {
      guard let data = FileManager.default.contents(atPath: "\(folder)/done/\(name)") else {
        site.report("\(name) is missing")
        continue
      }
      if name.hasPrefix("u") {
        let text = String(decoding: data, as: UTF8.self)
        // If a worker was killed between the head and the body of a response, the next worker reports that error instead.
        if text != "answer to \(name)", !text.contains("before you send the file again") {
          site.report("\(name) ended with \(text)")
        }
        if site.arrivalCount(name) == 0 { site.report("\(name) never arrived") }
      } else if !(0..<site.versionCount(name)).contains(where: { Data(Site.content(name, version: $0)) == data }) {
        site.report(
          "\(name) has \(data.count) bytes that no version has: \(String(decoding: data.prefix(60), as: UTF8.self))")
      }
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: store)
    if left != [TransferFileName.lock] { site.report("left over: \(left.sorted())") }
  }
}
