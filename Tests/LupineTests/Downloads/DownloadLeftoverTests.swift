// Downloads leave no files, and take little memory. Each test runs in a dedicated process with a dedicated temporary
// folder.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadLeftoverTests {
  @Test("downloads that are cancelled at random times leave no files")
  func cancelledAnytime() async throws {
    await #expect(processExitsWith: .success) {
      try await leavingNothing {
        let resource = Resource()
        try await withOrigin { peer in
          guard let request = try peer.readRequest() else { return }
          try resource.answer(request, on: peer, .hold(at: Int(request.path.dropFirst()) ?? 0))
        } _: { origin in
          try await withSession { session in
            var random = SplitMix64(seed: 8)
            for _ in 0..<repetitions(of: 10) {
              let plans = (0..<20).map { index in
                let sent = Int.random(in: 0...resource.byteCount - 1, using: &random)
                return (sent: sent, seen: Int.random(in: 0...sent, using: &random), keeps: index.isMultiple(of: 10))
              }
              try await withThrowingTaskGroup { group in
                for plan in plans {
                  group.addTask {
                    let request = session.download(origin.url + "/\(plan.sent)")
                    if plan.seen > 0 { await request.receives(plan.seen) } else { request.resume() }
                    request.cancel(producingResumeData: plan.keeps)
                    let response = await request.outcome()
                    #expect(response.error?.isExplicitlyCancelledError == true && response.fileURL == nil)
                    #expect((response.resumeData != nil) == (plan.keeps && plan.seen > 0) || plan.seen == 0)
                    if let path = response.leftPath { try FileManager.default.removeItem(atPath: path) }
                  }
                }
                try await group.waitForAll()
              }
            }
          }
        }
      }
    }
  }

  @Test("releasing or invalidating a session while downloads are running leaves no files")
  func sessionGoes() async throws {
    await #expect(processExitsWith: .success) {
      try await leavingNothing {
        try await endSession { $0 = nil }
        try await endSession { $0?.session.invalidateAndCancel() }
      }
    }
  }

  @Test("downloading a body of 256 MiB to a file takes at most 24 MiB of memory")
  func memory() async throws {
    await #expect(processExitsWith: .success) {
      try await leavingNothing {
        let byteCount = 256 << 20
        try await withServer { request in
          Reply(.pattern(byteCount: request.path == "/warm" ? 1 << 20 : UInt64(byteCount)))
        } _: { origin in
          try await withSession { session in
            try await withFolder { folder in
              _ = await session.download(origin.url + "/warm", to: into(folder)).outcome()
              let before = try residentBytesMax()
              let response = await session.download(origin.url, to: into(folder)).outcome()
              let growth = try residentBytesMax() - before
              #expect(Resources.isSanitized || growth < 24 << 20, "\(growth) bytes")
              #expect(response.error == nil)
              let file = try FileHandle(forReadingFrom: #require(response.fileURL))
              #expect(try file.seekToEnd() == UInt64(byteCount))
              for place in [0, 1, 65_537, 100_000_003, byteCount - 1] as [Int] {
                try file.seek(toOffset: UInt64(place))
                #expect(try file.read(upToCount: 1) == Data([Pattern.byte(at: UInt64(place))]))
              }
            }
          }
        }
      }
    }
  }

  @Test("a download to a full disk fails, and frees the space of its file", .enabled(if: SmallDisk.isAvailable))
  func fullDisk() async throws {
    await #expect(processExitsWith: .success) {
      try await leavingNothing {
        let disk = try SmallDisk()
        setenv("TMPDIR", disk.folder.path, 1)
        let resource = Resource()
        try await withScripts([{ try resource.answer($0, on: $1) }]) { origin, _ in
          try await withSession { session in
            let response = await session.download(origin.url).outcome()
            guard case .sessionTaskFailed(let error as URLError) = response.error else {
              Issue.record("\(response)")
              return
            }
            #expect(error.code == .cannotWriteToFile && error.failingURL != nil)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
            #expect(error.localizedDescription.contains(" of 200,000 bytes: No space left on device. Free space there"))
            #expect(response.resumeData == nil && response.fileURL == nil && response.response?.statusCode == 200)
            #expect(names(in: disk.folder).isEmpty)
          }
        }
      }
    }
  }

  @Test("if a download's destination or temporary folder isn't writable, the error contains the path")
  func readOnly() async throws {
    await #expect(processExitsWith: .success) {
      try await leavingNothing {
        try await withServer { _ in
          .text("body")
        } _: { origin in
          try await withSession { session in
            // No user can create files in /sys, not even root.
            let folder = URL(filePath: "/sys")
            let response = await session.download(origin.url, to: into(folder)).outcome()
            let error = response.error?.underlyingError as? CocoaError
            #expect(response.error?.isDownloadedFileMoveError == true && response.fileURL == nil)
            #expect([.fileWriteNoPermission, .fileWriteVolumeReadOnly].contains(error?.code))
            let own = try #require(ProcessInfo.processInfo.environment["TMPDIR"])
            setenv("TMPDIR", folder.path, 1)
            let unmade = await session.download(origin.url).outcome()
            setenv("TMPDIR", own, 1)
            let urlError = unmade.error?.underlyingError as? URLError
            #expect(urlError?.code == .cannotCreateFile, "\(unmade)")
            #expect(urlError?.localizedDescription.contains("TMPDIR") == true)
            #expect(unmade.response?.statusCode == 200 && unmade.fileURL == nil && unmade.resumeData == nil)
          }
        }
      }
    }
  }
}

/// Calls `body` while TMPDIR is a new folder, and checks that the folder is empty afterward. Setting TMPDIR affects the
/// whole process, so the test needs a dedicated one.
private func leavingNothing(_ body: () async throws -> Void) async throws {
  let folder = URL(filePath: "/tmp/lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  setenv("TMPDIR", folder.path, 1)
  try await body()
  #expect(names(in: folder).isEmpty)
}

/// Starts five downloads, ends their session with `end`, and checks that each download fails without a file.
private func endSession(_ end: (inout Session?) -> Void) async throws {
  let resource = Resource()
  try await withScripts([{ try resource.answer($0, on: $1, .hold(at: 70_000)) }]) { origin, _ in
    var session: Session? = Session()
    // There are no more requests than connections, so that none waits for a connection.
    let requests = (0..<5).compactMap { _ in session?.download(origin.url) }
    for request in requests { await request.receives(70_000) }
    end(&session)
    for request in requests {
      let response = await request.outcome()
      #expect(response.error?.isSessionDeinitializedError == true || response.error?.isSessionInvalidatedError == true)
      #expect(response.fileURL == nil && response.resumeData == nil)
    }
    withExtendedLifetime(session) {}
  }
}

/// Returns the peak resident memory of this process, in bytes.
private func residentBytesMax() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
  return try #require(Int(line.filter(\.isNumber))) << 10
}
