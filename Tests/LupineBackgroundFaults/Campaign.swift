// Campaign: runs a download and an upload repeatedly, fails a different call in each run, and checks the outcome.

import CLupineFaults
import Foundation
import LupineOrigin
import LupineTransferStore
import LupineURLSession
import Synchronization

/// Counts the uploads that the test server has received.
private final class Arrivals: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add() { number.withLock { $0 += 1 } }
}

/// Runs a background download and a background upload once for each system call that can fail, and makes that call fail.
struct Campaign {
  private let folder: URL
  private let growth: Int
  private let server: OriginServer
  private let arrivals: Arrivals

  private static let identifier = "faults"
  // LeakSanitizer doesn't recognize the pointer in a static variable of type Data.
  private static let content = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private static let answer = Array("answer".utf8)
  /// The functions that the runs let fail. LupineFaults tests the other functions, which open connections and run the event loop.
  private static let calls = [
    "open", "openat", "fstat", "pread", "pwrite", "ftruncate", "close", "rename", "renameat", "renameat2", "fdatasync",
    "flock", "unlink", "unlinkat", "mkdirat", "send", "recv", "sendfile",
  ]
  /// The campaign ends early after this number of runs with problems.
  private static let problemsMax = 4

  init(folder: URL, growth: Int) throws {
    self.folder = folder
    self.growth = growth
    let arrivals = Arrivals()
    self.arrivals = arrivals
    server = try OriginServer.serving { request in
      guard request.method == "PUT" else { return Reply(.bytes(Self.content)) }
      arrivals.add()
      return Reply(.bytes(Self.answer))
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try Data(Self.content).write(to: folder.appending(path: "body"))
  }

  /// Performs all runs. Returns true if no run had a problem and enough different system calls failed.
  func run() -> Bool {
    defer {
      server.stop()
      try? FileManager.default.removeItem(at: folder)
    }
    // Opens the files and libraries that a process opens only once, so that the later runs don't.
    let before = problems(call: "", n: 0, variant: 0)
    for problem in before { print("without a fault: \(problem)") }
    var (wrong, runs, struck) = (before.isEmpty ? 0 : 1, 1, [String]())
    for call in Self.calls {
      var (n, isStruck, count) = (1, true, 0)
      while isStruck, wrong < Self.problemsMax {
        var variant = 0
        repeat {
          let found = problems(call: call, n: n, variant: variant)
          isStruck = lupine_faults_struck()
          for problem in found { print("\(call) \(n), way \(variant): \(problem)") }
          wrong += found.isEmpty ? 0 : 1
          runs += 1
          count += isStruck ? 1 : 0
          variant += 1
        } while isStruck && wrong < Self.problemsMax && variant < Int(lupine_faults_struck_variants())
        n += 1 + n * growth / 100
      }
      if count > 0 { struck.append("\(call) \(count)") }
    }
    print("\(runs) runs, \(wrong) wrong; failed: \(struck.joined(separator: " "))")
    // A campaign in which hardly any call failed would have tested nothing.
    return wrong == 0 && struck.count >= Self.calls.count / 2
  }

  /// Performs the transfers while the `n`-th call of the system function `call` fails, and returns descriptions of the problems.
  /// The variant is the way in which the call fails, such as its error code.
  private func problems(call: String, n: Int, variant: Int) -> [String] {
    try? FileManager.default.removeItem(at: folder.appending(path: "sessions"))
    lupine_faults_arm(call, n, CInt(variant))
    let first = perform(isFirst: true)
    lupine_faults_disarm()
    let arrivalCount = arrivals.count
    guard let first, let second = perform(isFirst: false) else { return ["a session never became invalid"] }
    return problems(first, second) + (arrivals.count == arrivalCount ? [] : ["a completed upload was sent again"])
  }

  /// Creates a background session and waits for its end. The first session also gets a download and an upload.
  ///
  /// Returns the session's events, or nil if the session doesn't end within 30 s.
  private func perform(isFirst: Bool) -> Observer.Events? {
    let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
    configuration.lupineBackground.directory = folder.appending(path: "sessions")
    configuration.lupineBackground.retryDelayMin = .milliseconds(1)
    configuration.lupineBackground.retryDelayMax = .milliseconds(10)
    configuration.connectionProxyDictionary = [:]
    let observer = Observer()
    let session = URLSession(configuration: configuration, delegate: observer, delegateQueue: nil)
    if isFirst, let url = URL(string: server.url + "/") {
      var request = URLRequest(url: url)
      let download = session.downloadTask(with: request)
      request.httpMethod = "PUT"
      let upload = session.uploadTask(with: request, fromFile: folder.appending(path: "body"))
      download.resume()
      upload.resume()
    }
    session.finishTasksAndInvalidate()
    return observer.awaitEnd()
  }

  private func problems(_ first: Observer.Events, _ second: Observer.Events) -> [String] {
    var found: [String] = []
    if (first.files + second.files).contains(where: { $0 != Data(Self.content) }) { found.append("a file is damaged") }
    if first.invalidity == nil {
      for number in [1, 2] where first.completions.count(where: { $0.number == number }) != 1 {
        found.append("task \(number) didn't complete once: \(first.completions)")
      }
      func isComplete(_ number: Int) -> Bool { first.completions.contains { $0.number == number && $0.code == nil } }
      if isComplete(1), first.files.isEmpty { found.append("a download completed without its file") }
      if isComplete(2), first.body != Data(Self.answer) { found.append("an upload completed without its answer") }
    }
    if second.invalidity != nil { found.append("the later session is invalid") }
    if !second.completions.isEmpty { found.append("a task completed again: \(second.completions)") }
    let sessions = folder.appending(path: "sessions").appending(path: Self.identifier)
    let left = (try? FileManager.default.contentsOfDirectory(atPath: sessions.path)) ?? []
    if left != [TransferFileName.lock] { found.append("left over: \(left.sorted())") }
    return found
  }
}
