// Uploads leave no file and no descriptor, and take little memory. The tests run in dedicated processes, because other
// tests have files and descriptors too.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct UploadLeakTests {
  @Test("200 uploads that are cancelled at random times leave no temporary file and no descriptor")
  func cancelled() async throws {
    try await withFolder { folder in
      // The process below inherits TMPDIR, so all files in the folder are its own.
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        [path = folder.path as String] in
        setenv("TMPDIR", path, 1)
        let place = URL(filePath: path)
        let file = try place.patternFile(2_000_000)
        try await Cancelling.run(count: 10, seed: 1, file)
        let before = Resources.descriptors(below: path)
        let fates = try await Cancelling.run(count: 200, seed: 2, file)
        var left: [String] = []
        if await !settles({ Resources.descriptors(below: path).count <= before.count }) {
          left.append("descriptors: \(Resources.descriptors(below: path)) instead of \(before)")
        }
        if await !settles({ Resources.files(in: place) == ["body"] }) {
          left.append("files: \(Resources.files(in: place))")
        }
        try FileHandle.standardError.write(contentsOf: Data("left: \(left), fates: \(fates)\n".utf8))
      }
      let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(words.contains("left: [], "), "\(words)")
      // If only one outcome occurred, all cancellations were too early or too late.
      #expect(words.contains("cancelled") && words.contains("complete"), "\(words)")
    }
  }

  @Test("uploading 64 MiB from a file or a stream takes less than 16 MiB of memory", arguments: [false, true])
  func memory(isStream: Bool) async throws {
    try await withFolder { folder in
      try folder.patternFile(64 << 20)
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        [path = folder.appending(path: "body").path as String, isStream] in
        try await withOrigin { peer in
          // The server counts the body's bytes but doesn't store them.
          var head: [UInt8] = []
          while !head.contains("\r\n\r\n".utf8) { head += try peer.receive() }
          let text = String(decoding: head, as: UTF8.self)
          let isLarge = text.contains("Content-Length: \(64 << 20)\r\n")
          var count = head.count - (text.firstRange(of: "\r\n\r\n").map { text[..<$0.upperBound].utf8.count } ?? 0)
          while count < (isLarge ? 64 << 20 : 1) { count += try peer.receive().count }
          try peer.respond(fields: ["Connection": "close"], body: Array("\(count)".utf8))
        } _: { origin in
          try await withSession { session in
            let headers: HTTPHeaders = ["Content-Length": "\(64 << 20)"]
            func send() async throws -> String {
              guard isStream else { return try await session.upload(URL(filePath: path), to: origin.url).text() }
              return try await session.upload(
                try #require(InputStream(fileAtPath: path)), to: origin.url, headers: headers
              )
              .text()
            }
            // The first request makes the allocations that a process needs only once.
            _ = try await session.upload(Data(count: 1), to: origin.url).text()
            let before = try Resources.residentBytesMax
            let count = try await send()
            let grown = try Resources.residentBytesMax - before
            try FileHandle.standardError.write(contentsOf: Data("sent \(count), grown by \(grown)\n".utf8))
            #expect(Resources.isSanitized || grown < 16 << 20)
          }
        }
      }
      let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(words.contains("sent \(64 << 20), "), "\(words)")
    }
  }
}

/// Starts uploads of each kind, such as from a file, and cancels each at a random moment between its creation and its end.
private enum Cancelling {
  private static let kindCount = 4

  @discardableResult
  static func run(count: Int, seed: UInt64, _ file: URL) async throws -> [String: Int] {
    var random = SplitMix64(seed: seed)
    var fates: [String: Int] = [:]
    let origin = try OriginServer { try $0.serve { .text("\($0.body.count)") } }
    defer { origin.stop() }
    let queue = DispatchQueue(label: "requests")
    let session = Session(configuration: .ephemeral, requestQueue: queue)
    // The duration of the last upload of each kind. It limits the random delays, so that they fit the machine's speed.
    var durations = [Duration?](repeating: nil, count: kindCount)
    for index in 0..<count + kindCount {
      let request = try make(index, file, session, origin.url)
      let start = ContinuousClock.now
      let response = request.serializingString()
      let duration = durations[index % kindCount]
      if let duration {
        let moment = start + duration * Double.random(in: 0...2, using: &random)
        while ContinuousClock.now < moment, !request.isFinished { await Task.yield() }
        request.cancel()
      }
      let error = await response.response.error
      if error == nil { durations[index % kindCount] = start.duration(to: .now) }
      if duration == nil { continue }
      fates[
        error == nil ? "complete" : error?.isExplicitlyCancelledError == true ? "cancelled" : "failed", default: 0] += 1
    }
    return fates
  }

  private static func make(_ index: Int, _ file: URL, _ session: Session, _ url: String) throws -> UploadRequest {
    switch index % kindCount {
    case 0: session.upload(file, to: url)
    case 1: session.upload(try #require(InputStream(url: file)), to: url)
    case 2:
      session.upload(multipartFormData: { $0.append(file, withName: "a", fileName: "a", mimeType: "b/c") }, to: url)
    default:
      session.upload(
        multipartFormData: { $0.append(file, withName: "a", fileName: "a", mimeType: "b/c") }, to: url,
        usingThreshold: 0)
    }
  }
}
