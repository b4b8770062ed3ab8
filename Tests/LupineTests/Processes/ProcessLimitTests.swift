// ProcessLimitTests: requests fail with clear errors when descriptors, file size or disk space run out, and succeed
// again when there is room.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Tests that change a limit run in dedicated processes, because the limit applies to the whole process.
@Suite(.timeLimit(.minutes(10))) struct ProcessLimitTests {
  @Test("a request without free file descriptors fails with an error that says so, and a later request succeeds")
  func engineStart() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        // The session is created first, because the runtime opens further descriptors at the first use.
        let session = Session(configuration: .forTests)
        let limit = try Descriptors.takeAll()
        let failed = await session.request(url).serializingString().response
        let error = try #require(failed.error?.underlyingError as? URLError, "\(failed)")
        try #require(error.code == .cannotLoadFromNetwork)
        try #require(error.localizedDescription.contains("ulimit -n"), "\(error.localizedDescription)")
        try Descriptors.restore(limit)
        let value = try await session.request(url).serializingString().value
        try #require(value == "here")
      }
    }
  }

  @Test("requests that need a connection wait while no file descriptor is free, and complete afterward")
  func connections() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        let failures = Recorder<Void>()
        let descriptors = LoopDescriptors()
        let configuration = URLSessionConfiguration.forTests
        configuration.engine.tracer = { event in
          descriptors.trace(event)
          if case .connectionFailed = event.kind { failures.record(()) }
        }
        let session = Session(configuration: configuration)
        try await Descriptors.start(session, url)
        let limit = try descriptors.takeAll()
        let tasks = (0..<20).map { _ in session.request(url).serializingString() }
        _ = await failures.first(3)
        try Descriptors.restore(limit)
        for task in tasks {
          let value = try await task.value
          try #require(value == "here")
        }
      }
    }
  }

  @Test(
    "if no file descriptor becomes free before a request's timeout, the error's description mentions the connection")
  func connectionsTooLate() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        let descriptors = LoopDescriptors()
        let configuration = URLSessionConfiguration.forTests
        configuration.engine.tracer = descriptors.trace
        let session = Session(configuration: configuration)
        try await Descriptors.start(session, url)
        let limit = try descriptors.takeAll()
        let failed = await session.request(url) { $0.timeoutInterval = 0.3 }.serializingString().response
        let error = try #require(failed.error?.underlyingError as? URLError, "\(failed)")
        try #require([.timedOut, .cannotLoadFromNetwork].contains(error.code), "\(error)")
        try #require(error.localizedDescription.contains("connection"), "\(error.localizedDescription)")
        try Descriptors.restore(limit)
      }
    }
  }

  @Test("a download that exceeds the process's file size limit fails, and succeeds after the limit has been raised")
  func fileSize() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 200_000))
    } _: { origin in
      _ = await #expect(processExitsWith: .success) { [url = origin.url as String] in
        let session = Session(configuration: .forTests)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        var small = rlimit(rlim_cur: 100_000, rlim_max: limit.rlim_max)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small) == 0)
        try writeTooMuch()
        let failed = await session.download(url).serializingDownloadedFileURL().response
        let error = try #require(failed.error?.underlyingError as? URLError, "\(failed)")
        try #require(error.code == .cannotWriteToFile && error.localizedDescription.contains("ulimit -f"), "\(error)")
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        let file = try await session.download(url).serializingDownloadedFileURL().value
        try #require(try Data(contentsOf: file).count == 200_000)
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  @Test(
    "a download to a full disk fails, and the next download succeeds once the disk has space",
    .enabled(if: SmallDisk.isAvailable)
  )
  func fullDisk() async throws {
    let disk = try SmallDisk()
    try Data(count: 60_000).write(to: disk.folder.appending(path: "filler"))
    try await withServer { _ in
      Reply(.pattern(byteCount: 30_000))
    } _: { origin in
      try await withSession { session in
        let failed = await session.download(origin.url, to: into(disk.folder)).outcome()
        guard case .downloadedFileMoveFailed(let error, _, _) = failed.error else {
          Issue.record("\(String(describing: failed.error))")
          return
        }
        #expect((error as? CocoaError)?.code == .fileWriteOutOfSpace)
        #expect(names(in: disk.folder) == ["filler"])
        try FileManager.default.removeItem(at: disk.folder.appending(path: "filler"))
        let response = await session.download(origin.url, to: into(disk.folder)).outcome()
        #expect(response.content?.count == 30_000)
      }
    }
  }

  @Test("a download to a folder that isn't writable fails with the folder's path, and the next download succeeds")
  func readOnlyDestination() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        // No user can create files in /proc, not even root.
        let failed = await session.download(origin.url, to: into(URL(filePath: "/proc/self"))).outcome()
        guard case .downloadedFileMoveFailed(let error, _, let destination) = failed.error else {
          Issue.record("\(String(describing: failed.error))")
          return
        }
        #expect(destination.path == "/proc/self/file")
        #expect(error.localizedDescription.contains("/proc/self/file"), "\(error.localizedDescription)")
        try await withFolder { folder in
          let response = await session.download(origin.url, to: into(folder)).outcome()
          #expect(response.content == Data("here".utf8))
        }
      }
    }
  }
}

/// Writes more bytes to a file than the process's file size limit permits, and expects an error.
///
/// Unblocks SIGXFSZ on the calling thread, so that the signal would end the process. Dispatch's threads block the signal.
private func writeTooMuch() throws {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGXFSZ)
  var before = sigset_t()
  pthread_sigmask(SIG_UNBLOCK, &signals, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  let file = try DownloadFile.create(from: nil)
  try file.write(Data(count: 100_000))
  try #require(throws: URLError.self) { try file.write(Data(count: 1)) }
}

/// Makes this process run out of file descriptors, and restores the limit.
private enum Descriptors {
  /// Starts the session's engine with a request whose connection is closed afterward. If the connection were closed later, a
  /// descriptor would become free.
  static func start(_ session: Session, _ url: String) async throws {
    let before = sockets
    let text = try await session.request(url, headers: ["Connection": "close"]).serializingString().value
    try #require(text == "here")
    try #require(await settles { sockets <= before }, "the connection isn't closed")
  }

  private static var sockets: Int { Resources.descriptors(below: "/no/folder").count { $0.hasPrefix("socket:") } }

  /// Sets the process's descriptor limit so that no further descriptor can be opened. Returns the previous limit.
  static func takeAll() throws -> rlimit {
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    // The next descriptor would get the lowest free number. Open descriptors above the limit stay open.
    let next = dup(STDIN_FILENO)
    close(next)
    var none = rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
    return limit
  }

  static func restore(_ limit: rlimit) throws {
    var limit = limit
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
  }
}

/// Makes the event loop that opens the next connection run out of descriptors.
///
/// Only the loop's thread runs out of descriptors. If the whole process did, Dispatch would end the process on a busy machine:
/// if work waits for a thread, Dispatch opens files in /proc once a second, and traps if it can't.
private final class LoopDescriptors: Sendable {
  private let isWanted = Atomic(false)

  /// Makes the event loop run out of descriptors when it opens the next connection. Returns the process's previous limit, for
  /// `Descriptors.restore`.
  func takeAll() throws -> rlimit {
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    // The loop's thread soon reaches this limit, which leaves 64 descriptors for the other threads.
    let next = dup(STDIN_FILENO)
    close(next)
    var low = rlimit(rlim_cur: rlim_t(next) + 64, rlim_max: limit.rlim_max)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &low) == 0)
    isWanted.store(true, ordering: .releasing)
    return limit
  }

  /// The engine's tracer, which the event loop calls on its thread for each trace event.
  func trace(_ event: TraceEvent) {
    guard case .connectionStarted = event.kind, isWanted.exchange(false, ordering: .acquiring) else { return }
    // The thread gets a separate copy of the process's descriptor table (unshare(2)), which is then filled up.
    typealias Unshare = @convention(c) (CInt) -> CInt
    let cloneFiles: CInt = 0x400
    guard let symbol = dlsym(nil, "unshare"), unsafeBitCast(symbol, to: Unshare.self)(cloneFiles) == 0 else {
      preconditionFailure("unshare failed with errno \(errno)")
    }
    while dup(STDIN_FILENO) >= 0 {}
    precondition(errno == EMFILE, "dup failed with errno \(errno)")
  }
}
