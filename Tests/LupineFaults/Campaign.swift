// Campaign: runs a scenario repeatedly, fails a different call in each run, and checks the outcome.

import CLupineFaults
import Foundation
import Lupine
import LupineOrigin
import LupineTestSupport
import Synchronization

/// Performs one kind of request repeatedly, with a different failing system or library call in each run.
struct Campaign {
  let kind: FaultKind
  let scenario: Scenario
  let folder: URL
  /// The growth of the steps of n, in hundredths of n. With 0, every n is tested. A step is at most `stepMax`.
  let growth: Int

  /// The maximum step of n. If an OpenSSL call makes more than 16 allocations, at least one of them is tested.
  private static let stepMax = 16
  /// The campaign ends early after this number of runs with problems.
  private static let problemsMax = 4

  /// Performs all runs. Returns the exit status of the process, which is 0 if no run had a problem.
  func run() async throws -> CInt {
    let servers = try Servers()
    defer { servers.stop() }
    if [.uploadFile, .uploadSecureFile].contains(scenario) {
      try Scenario.body.write(to: folder.appending(path: "body"))
    }
    // The first runs open all files and libraries that a process opens only once.
    for _ in 0..<3 { _ = try await Run(self, servers, OpenFiles(below: folder)).problems(call: "", n: 0, variant: 0) }
    let before = OpenFiles(below: folder)

    var count = Count()
    for call in kind.calls { try await fail(call, servers, before, &count) }
    say("\(kind) \(scenario): \(count.runs) runs, \(count.wrong) wrong; failed: \(count.struck.joined(separator: " "))")
    // A campaign in which no call failed would have tested nothing.
    return count.wrong == 0 && !count.struck.isEmpty ? 0 : 1
  }

  private struct Count {
    var runs = 0
    var wrong = 0
    /// The name of each function that has failed, with the number of its failures.
    var struck: [String] = []
  }

  /// Fails the n-th call of one function, for n = 1, 2, … and in each possible way, until a run makes fewer than n calls.
  private func fail(_ call: String, _ servers: Servers, _ before: OpenFiles, _ count: inout Count) async throws {
    var (n, struck) = (1, 0)
    defer { if struck > 0 { count.struck.append("\(call) \(struck)") } }
    while true {
      var variant = 0
      repeat {
        let problems = try await Run(self, servers, before).problems(call: call, n: n, variant: variant)
        count.runs += 1
        let fault = Fault.struck(call)
        for problem in problems { say("\(n), \(fault?.description ?? "untouched"): \(problem)") }
        if !problems.isEmpty { count.wrong += 1 }
        guard fault != nil, count.wrong < Self.problemsMax else { return }
        struck += 1
        variant += 1
      } while variant < lupine_faults_struck_variants()
      n += min(1 + n * growth / 100, Self.stepMax)
    }
  }
}

/// One request in a new session, while one call of a function fails.
private struct Run {
  private let campaign: Campaign
  private let servers: Servers
  private let before: OpenFiles

  init(_ campaign: Campaign, _ servers: Servers, _ before: OpenFiles) {
    self.campaign = campaign
    self.servers = servers
    self.before = before
  }

  /// Performs the request while the `n`-th call of the function `call` fails, and returns descriptions of the problems. If `n` is
  /// 0, no call fails.
  func problems(call: String, n: Int, variant: Int) async throws -> [String] {
    let endings = Endings()
    let configuration = try servers.configuration(campaign.scenario)
    var problems: [String] = []
    lupine_faults_arm(call, n, CInt(variant))
    do {
      let session = Session(configuration: configuration)
      campaign.scenario.start(session, servers, campaign.folder) { endings.note($0) }
      guard await settlesSoon({ !endings.all.isEmpty }) else { return ["the request never ended"] }
      // At rest, the loop has no deadline, or only that of an idle connection. It checks such a connection once more when the
      // deadline of the connection's last exchange passes.
      let isAtRest = await settlesSoon {
        let waiting = lupine_faults_waiting()
        return waiting == -1 || waiting > 1_000_000 || servers.openConnectionCount > 0
          || threadCount(named: "lupine-") == 0
      }
      if !isAtRest { problems.append("a timer of \(lupine_faults_waiting()) ms is left") }
      withExtendedLifetime(session) {}
    }
    if await !settlesSoon({ threadCount(named: "lupine-") == 0 }) { problems.append("a thread is left") }
    lupine_faults_disarm()
    if await !settlesSoon({ servers.openConnectionCount == 0 }) { problems.append("a connection is left open") }
    try? FileManager.default.removeItem(at: campaign.folder.appending(path: "downloaded"))
    if await !settlesSoon({ OpenFiles(below: campaign.folder).isWithin(before) }) {
      problems.append("left: \(OpenFiles(below: campaign.folder)) instead of \(before)")
    }
    let all = endings.all
    if all.count != 1 { problems.append("the request ended \(all.count) times") }
    guard let ending = all.first else { return problems }
    let allowed = Fault.struck(call)?.allowed(in: campaign.scenario) ?? [.complete]
    if !allowed.contains(ending.kind) { problems.append("the request ended as \(ending.kind): \(ending.words)") }
    return problems
  }
}

/// Records the arguments of all calls of a completion handler.
private final class Endings: Sendable {
  private let list = Mutex<[Ending]>([])

  var all: [Ending] { list.withLock { $0 } }

  func note(_ ending: Ending) { list.withLock { $0.append(ending) } }
}

/// The descriptors and temporary files that the process has open at one moment.
struct OpenFiles: CustomStringConvertible {
  private let descriptors: [String]
  private let files: [String]

  init(below folder: URL) {
    let kinds = ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", folder.path]
    descriptors = Self.names("/proc/self/fd").compactMap { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return kinds.contains { target?.hasPrefix($0) == true } ? target : nil
    }
    files = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
  }

  /// Returns whether there are no descriptors or files that `before` lacks. Folders aren't counted, because the folder for
  /// multipart bodies remains.
  func isWithin(_ before: OpenFiles) -> Bool {
    descriptors.count <= before.descriptors.count && Set(files).isSubset(of: before.files)
  }

  var description: String { "\(descriptors.sorted()) and \(files)" }

  private static func names(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}

/// Returns whether the condition becomes true within 15 s. Checks it every 0.3 ms, because a campaign waits thousands of times.
private func settlesSoon(_ condition: () -> Bool) async -> Bool {
  await settles(within: .seconds(15), every: .microseconds(300), condition)
}
