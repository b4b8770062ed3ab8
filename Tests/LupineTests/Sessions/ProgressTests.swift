// ProgressTests: the progress of bodies in both directions, and suspending stops the transfer.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
  @Test(
    "a data request's progress never decreases, and ends at exactly 1", arguments: [1, 70_000, 8 << 20] as [UInt64])
  func monotonic(byteCount: UInt64) async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: byteCount))
    } _: { origin in
      try await withSession { session in
        let seen = Recorder<(Int64, Int64, Double)?>()
        let queue = DispatchQueue(label: "progress")
        let request = session.request(origin.url)
        request
          .downloadProgress(queue: queue) { progress in
            seen.record((progress.completedUnitCount, progress.totalUnitCount, progress.fractionCompleted))
          }
          // The queue is serial, so this response handler runs after the last progress handler.
          .response(queue: queue) { _ in seen.record(nil) }
        var updates: [(Int64, Int64, Double)] = []
        while let update = await seen.next() ?? nil { updates.append(update) }
        #expect(updates.map(\.0) == updates.map(\.0).sorted())
        #expect(updates.map(\.2) == updates.map(\.2).sorted())
        let last = try #require(updates.last)
        #expect(last.0 == Int64(byteCount) && last.1 == Int64(byteCount) && last.2 == 1)
        #expect(request.downloadProgress.isFinished)
        let isIntact = request.data == Pattern.data(Int(byteCount))
        #expect(isIntact)
      }
    }
  }

  @Test(
    "if a body's decoded length is unknown, the progress total is -1 until the end, and then the number of decoded bytes"
  )
  func unknownLength() async throws {
    try await withServer { request in
      request.path == "/gzip"
        ? Reply(.coded(Array("lupine".utf8), .gzip)) : Reply(.chunks([[1], [2, 3]], pause: .zero))
    } _: { origin in
      try await withSession { session in
        for (path, count) in ["/gzip": Int64(6), "/chunked": 3] {
          let request = session.request(origin.url + path)
          let seen = Recorder<(Int64, Double)?>()
          let queue = DispatchQueue(label: "progress")
          request.onHTTPResponse(on: queue) { [progress = request.downloadProgress] _ in
            seen.record((progress.totalUnitCount > 0 ? 1 : -1, progress.fractionCompleted))
          }
          request.downloadProgress(queue: queue) { seen.record(($0.totalUnitCount, $0.fractionCompleted)) }
            .response(queue: queue) { _ in seen.record(nil) }
          var updates: [(Int64, Double)] = []
          while let update = await seen.next() ?? nil { updates.append(update) }
          #expect(updates.first?.0 == -1 && updates.first?.1 == 0)
          #expect(updates.last?.0 == count && updates.last?.1 == 1)
          #expect(request.downloadProgress.isFinished && request.downloadProgress.completedUnitCount == count)
          // The result is the same if `downloadProgress` is first read after the end.
          let late = session.request(origin.url + path)
          _ = await late.outcome()
          #expect(late.downloadProgress.fractionCompleted == 1 && late.downloadProgress.totalUnitCount == count)
        }
      }
    }
  }

  @Test("if a response body of unknown length is truncated, the request's progress doesn't become finished")
  func cutShort() async throws {
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.chunk([1, 2, 3])
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let progress = request.downloadProgress
        #expect(await request.outcome().error != nil)
        #expect(progress.fractionCompleted == 0 && progress.totalUnitCount == -1 && !progress.isFinished)
        #expect(request.downloadProgress.totalUnitCount == -1)
      }
    }
  }

  @Test("the upload progress of a body of unknown length ends at exactly 1")
  func unknownUpload() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let request = session.upload(InputStream(data: Pattern.data(100_000)), to: origin.url)
        let progress = request.uploadProgress
        #expect(await request.outcome().error == nil)
        #expect(progress.fractionCompleted == 1 && progress.completedUnitCount == 100_000)
        #expect(progress.totalUnitCount == 100_000 && progress.isFinished)
      }
    }
  }

  @Test("a request with an empty response body doesn't call its progress handler")
  func empty() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let seen = Recorder<String>()
        let queue = DispatchQueue(label: "progress")
        session.request(origin.url)
          .downloadProgress(queue: queue) { _ in seen.record("progress") }
          .response(queue: queue) { _ in seen.record("response") }
        #expect(await seen.next() == "response")
      }
    }
  }

  @Test("a suspended request receives no more of its response body until the request is resumed")
  func suspending() async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let progress = Recorder<Int64>()
        let request = session.request(origin.url)
          .downloadProgress(queue: .global()) { progress.record($0.completedUnitCount) }
        async let response = request.outcome()
        for _ in 0..<3 {
          _ = await progress.next()
          request.suspend()
          // The engine handles the suspension before this request, because both run on the same loop.
          #expect(await session.request(origin.url + "/short").outcome().error == nil)
          let stopped = try #require(request.task?.countOfBytesReceived)
          for _ in 0..<20 { #expect(await session.request(origin.url + "/short").outcome().error == nil) }
          #expect(request.task?.countOfBytesReceived == stopped)
          #expect(request.isSuspended && stopped > 0)
          request.resume()
          // Progress handler calls that were queued before the suspension report at most `stopped` bytes.
          while let count = await progress.next(), count <= stopped {}
        }
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test("100,000 progress updates don't overflow the stack, and are merged if the progress handler's queue is slower")
  func manyUpdates() async {
    let progress = TransferProgress()
    let queue = DispatchQueue(label: "progress")
    let calls = Recorder<Int64>()
    progress.setHandler({ calls.record($0.completedUnitCount) }, on: queue)
    let count = Int64(repetitions(of: 100_000))
    queue.suspend()
    for index in 1...count { progress.update(index, of: count) }
    queue.resume()
    #expect(await calls.next() == count)
    // Each update causes one call. If handlers were nested, they would overflow the small stacks of Dispatch's threads.
    for index in 1...count { queue.sync { progress.update(index, of: count) } }
    #expect(await calls.next() != nil)
    #expect(progress.currentHandler?.queue === queue)
  }

  @Test(
    "a request that is repeatedly suspended and resumed receives its complete body, over TCP and TLS",
    arguments: [false, true])
  func whole(isTLS: Bool) async throws {
    let byteCount: UInt64 = isTLS ? 16 << 20 : 24 << 20
    let identity = try ServerIdentity.throwaway()
    try await withServer(tls: isTLS ? identity : nil) { _ in
      Reply(.pattern(byteCount: byteCount))
    } _: { origin in
      try await withSession {
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
      } _: { session in
        let progress = Recorder<Void>()
        let request = session.request(origin.url).downloadProgress(queue: .global()) { _ in progress.record(()) }
        // On a busy machine, updates may be merged into fewer than three calls. So the response handler records three
        // more.
        request.response(queue: .global()) { _ in for _ in 0..<3 { progress.record(()) } }
        async let response = request.outcome()
        for _ in 0..<3 {
          _ = await progress.next()
          for _ in 0..<10 { request.suspend().resume() }
        }
        let isIntact = await response.data == Pattern.data(Int(byteCount))
        #expect(isIntact)
      }
    }
  }
}
