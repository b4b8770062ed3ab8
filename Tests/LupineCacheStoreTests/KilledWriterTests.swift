// KilledWriterTests: processes that write to one folder are killed at any time, and leave only complete records.

import Foundation
import LupineCache
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineCacheStore

@Suite struct KilledWriterTests {
  /// Returns the path of the program LupineCacheWriter, which is in the same folder as the tests' program.
  private static func program() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineCacheWriter").path
  }

  @Test(
    "after processes writing to the cache are killed at random, all records are complete and within the capacity"
  )
  func killing() async throws {
    let program = try Self.program()
    let folder = try StoreFolder()
    let capacity = 400_000
    var random = SplitMix64(seed: 7)
    for _ in 0..<repetitions(of: 8) {
      var writers: [(process: ChildProcess, output: Int32)] = []
      for _ in 0..<3 {
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = try ChildProcess(
          [program, folder.path, "\(capacity)", "\(random.next())"], output: .descriptor(pipes[1]))
        close(pipes[1])
        writers.append((process, pipes[0]))
      }
      for writer in writers {
        let count = random.number(1...40)
        #expect(await Self.receive(count, from: writer.output) == count)
        kill(writer.process.processIdentifier, SIGKILL)
        close(writer.output)
      }
      for writer in writers { #expect(await writer.process.end() == 128 + SIGKILL) }
      try check(folder, capacity)
    }
  }

  /// Reads this number of bytes, or fewer at the end, in a dedicated thread: all tests share as many threads as there are processors, and
  /// a reader that blocked one of them would stop other tests.
  private static func receive(_ count: Int, from descriptor: Int32) async -> Int {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var byte: UInt8 = 0
        var received = 0
        while received < count, read(descriptor, &byte, 1) == 1 { received += 1 }
        continuation.resume(returning: received)
      }
    }
  }

  private func check(_ folder: StoreFolder, _ capacity: Int) throws {
    let store = try DiskStore(folder: folder.path, capacity: capacity)
    #expect(store.byteCount <= capacity)
    // The store has removed the files that the killed processes left.
    #expect(folder.names.count == store.count)
    var checked = 0
    for number in 0...20 {
      for found in store.contents(of: "\(number)") {
        checked += 1
        let version = try #require(found.response.fields.first("Version").flatMap { Int($0) })
        let body = SequenceBytes.bytes(from: number * 7 + version, count: number * 4000)
        #expect(found.body == body)
      }
    }
    // No record was damaged, because reading a damaged record would have deleted it.
    #expect(checked == store.count && checked > 0)
  }
}
