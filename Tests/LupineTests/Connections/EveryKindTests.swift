// Leaks: 10,000 requests of each kind, a tenth of them cancelled at random times, leave no requests, tasks, files or
// descriptors behind.

import Foundation
import Glibc
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct EveryKindTests {
  enum Kind: String, CaseIterable, Codable, Sendable { case data, download, upload, multipart, stream }

  @Test(
    "10,000 requests of each kind, a tenth of them cancelled, leave no task, file or descriptor behind",
    arguments: Kind.allCases.filter { $0.rawValue == testsArgument ?? $0.rawValue })
  func nothingIsLeft(kind: Kind) async throws {
    try await withFolder { folder in
      // The test runs in a dedicated process, so all files in the process's temporary folder belong to the test.
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        [path = folder.path as String, kind = kind as Kind] in
        setenv("TMPDIR", path, 1)
        let report = try await Load(kind, URL(filePath: path)).run(repetitions(of: 10_000))
        try FileHandle.standardError.write(contentsOf: Data("\(report)\n".utf8))
      }
      let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(words.contains("left: [], "), "\(words)")
      // Some of the cancelled requests must have been cancelled in time, and others completed before.
      #expect(words.contains("cancelled") && words.contains("complete"), "\(words)")
    }
  }
}

/// Sends requests of one kind, such as downloads, in waves of 200, and reports the resources that they leave behind.
private struct Load {
  private let kind: EveryKindTests.Kind
  private let folder: URL
  private let session = Session(configuration: .forTests)
  private let body = Data(repeating: 7, count: 5_000)

  init(_ kind: EveryKindTests.Kind, _ folder: URL) {
    self.kind = kind
    self.folder = folder
  }

  func run(_ count: Int) async throws -> String {
    let socketsBefore = descriptors.count { isSocket($0) }
    let origin = try OriginServer.serving { request in Reply(.pattern(byteCount: UInt64(5_000 + request.body.count))) }
    defer { origin.stop() }
    _ = await send(200, seed: 1, origin.url)
    // The number of open sockets isn't measured here, because the server may accept or close a connection later. The server has
    // two sockets, of which one listens, and each connection has a socket at each end.
    let socketsMax = socketsBefore + 2 + 2 * session.sessionConfiguration.httpMaximumConnectionsPerHost
    let before = descriptors.count { !isSocket($0) }
    let fates = await send(count, seed: 2, origin.url)
    var left: [String] = []
    if await !session.running.isEmpty { left.append("requests") }
    if await !session.session.allTasks.isEmpty { left.append("tasks") }
    if await !settles({ Resources.files(in: folder).isEmpty }) { left.append("files: \(Resources.files(in: folder))") }
    let isClosed = await settles {
      let open = descriptors
      return open.count { isSocket($0) } <= socketsMax && open.count { !isSocket($0) } <= before
    }
    if !isClosed { left.append("descriptors: \(descriptors)") }
    return "left: \(left), fates: \(fates)"
  }

  private var descriptors: [String] { Resources.descriptors(below: folder.path) }

  private func isSocket(_ target: String) -> Bool { target.hasPrefix("socket:") }

  /// Sends requests in waves of 200, and waits for each wave to end before the next. Returns the number of requests by
  /// outcome: "cancelled", "complete" or an error's description.
  private func send(_ count: Int, seed: UInt64, _ url: String) async -> [String: Int] {
    var random = SplitMix64(seed: seed)
    var fates: [String: Int] = [:]
    for _ in 0..<(count + 199) / 200 {
      let ends = Recorder<AFError?>()
      for index in 0..<200 {
        let request = start(url, ends)
        guard index.isMultiple(of: 10) else { continue }
        let moment = Double(random.next() % 8_000) / 1_000_000
        DispatchQueue.global().asyncAfter(deadline: .now() + moment) { request.cancel() }
      }
      for error in await ends.first(200) {
        let fate = error.map { $0.isExplicitlyCancelledError ? "cancelled" : "\($0)" } ?? "complete"
        fates[fate, default: 0] += 1
      }
    }
    await session.rootQueue.drain()
    return fates
  }

  private func start(_ url: String, _ ends: Recorder<AFError?>) -> Request {
    let queue = session.rootQueue
    switch kind {
    case .data: return session.request(url).response(queue: queue) { ends.record($0.error) }
    case .upload: return session.upload(body, to: url).response(queue: queue) { ends.record($0.error) }
    case .multipart:
      return session.upload(multipartFormData: { $0.append(body, withName: "body") }, to: url, usingThreshold: 0)
        .response(queue: queue) { ends.record($0.error) }
    case .download:
      let target = folder.appending(path: UUID().uuidString)
      return session.download(url, to: { _, _ in (target, []) }).response(queue: queue) { response in
        if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
        ends.record(response.error)
      }
    case .stream:
      return session.streamRequest(url).responseStream(on: queue) { stream in
        if let completion = stream.completion { ends.record(completion.error) }
      }
    }
  }
}
