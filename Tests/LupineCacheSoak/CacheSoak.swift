// CacheSoak: starts, kills and restarts the soak's processes, and watches the size of their directory.

import Foundation
import Glibc
import LupineCacheStore
import LupineOrigin
import LupineRandom
import LupineTestSupport

/// Starts processes that share a cache folder, kills and restarts them, and checks the folder's size and records.
struct CacheSoak {
  private static let processCount = 8
  /// The time between two kills of a process, in seconds.
  private static let pause = 0.15

  private let program: String
  private let folder: String
  private let capacity: Int
  private let origin: OriginServer
  private let notes: String
  private var random: SplitMix64

  init(program: String, folder: String, capacity: Int, seed: UInt64) throws {
    self.program = try FileManager.default.destinationOfSymbolicLink(atPath: program)
    self.folder = folder
    self.capacity = capacity
    random = SplitMix64(seed: seed)
    origin = try OriginServer.serving { Page.reply(to: $0) }
    notes = FileManager.default.temporaryDirectory.appending(path: "lupine-cache-soak-\(UUID())").path
    for name in ["out", "err"] { try Data().write(to: URL(filePath: "\(notes)-\(name)")) }
  }

  /// Runs the soak for the given number of seconds, prints the measurements, and returns descriptions of the faults.
  func run(seconds: Int) throws -> [String] {
    var random = random
    var faults: [String] = []
    var processes = try (0..<Self.processCount).map { _ in try start(random.next()) }
    var (killCount, sizeMax) = (0, 0)
    let end = Date().addingTimeInterval(Double(seconds))
    while Date() < end {
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + Self.pause)
      let victim = Int(random.next() % UInt64(processes.count))
      kill(processes[victim].processIdentifier, SIGKILL)
      let status = processes[victim].awaitEnd()
      if status != 128 + SIGKILL { faults.append("a process ended with status \(status)") }
      killCount += 1
      processes[victim] = try start(random.next())
      sizeMax = max(sizeMax, size)
    }
    for process in processes {
      kill(process.processIdentifier, SIGKILL)
      process.awaitEnd()
    }
    // Each process may exceed the capacity by a sixteenth, and by the record that it is writing.
    let limit = capacity + capacity * Self.processCount / 16 + Self.processCount * capacity / 20
    if sizeMax > limit { faults.append("\(sizeMax) bytes are in the directory, and \(limit) are allowed") }
    let errors = try String(contentsOfFile: "\(notes)-err", encoding: .utf8)
    if !errors.isEmpty { faults.append(String(errors.prefix(2_000))) }
    let readable = try verify(&faults)
    report(seconds, killCount, sizeMax, readable)
    for name in ["out", "err"] { try? FileManager.default.removeItem(atPath: "\(notes)-\(name)") }
    return faults
  }

  private func start(_ seed: UInt64) throws -> ChildProcess {
    try ChildProcess(
      [program, "worker", "\(origin.port)", folder, "\(capacity)", "\(seed)"], output: .file("\(notes)-out"),
      errors: .file("\(notes)-err"))
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != FolderKey.fileName }
  }

  /// The size of all complete records in the cache folder, in bytes.
  private var size: Int { names.compactMap { RecordName($0) }.reduce(0) { $0 + Int($1.byteCount) } }

  /// Reads all remaining records as a new process does, and adds descriptions of damaged ones to `faults`. Returns the number of
  /// readable records.
  private func verify(_ faults: inout [String]) throws -> Int {
    let store = try DiskStore(folder: folder, capacity: capacity)
    if store.byteCount > capacity { faults.append("\(store.byteCount) bytes are left, and \(capacity) are allowed") }
    if names.contains(where: { RecordName($0) == nil }) { faults.append("a temporary file is left") }
    var count = 0
    for name in names.compactMap({ RecordName($0) }) {
      guard let record = store.open(name.id) else {
        faults.append("\(name.text) can't be opened")
        continue
      }
      for number in 0..<record.blockCount where (try? record.block(number)) == nil {
        faults.append("\(name.text) has a damaged block")
      }
      count += 1
    }
    return count
  }

  private func report(_ seconds: Int, _ killCount: Int, _ sizeMax: Int, _ recordCount: Int) {
    let letters = FileManager.default.contents(atPath: "\(notes)-out") ?? Data()
    let counts = Dictionary(grouping: letters, by: { $0 }).mapValues(\.count)
    func count(_ letter: Character) -> Int { letter.asciiValue.flatMap { counts[$0] } ?? 0 }
    print(
      """
      \(seconds) s, \(Self.processCount) processes, \(killCount) kills
      responses: \(count("h")) from the cache, \(count("n")) with a server, \(count("f")) failures; \(origin.requestCount) requests
      directory: at most \(sizeMax) of \(capacity) bytes; \(recordCount) records are left, all readable unless a fault says otherwise
      """)
  }
}
