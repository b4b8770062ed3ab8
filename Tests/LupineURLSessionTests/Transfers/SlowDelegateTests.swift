// SlowDelegateTests: a task whose delegate is slow holds at most one receive window of the body in memory.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SlowDelegateTests {
  private static let windowBytes = EngineConfiguration().windowBytes

  /// A task whose response has a long body.
  enum Kind: String, CaseIterable { case data, uncached, upload, coded }

  /// A session's delegate that receives no part of a body until its gate is open.
  private final class SlowDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let goOn = Gate()
    /// The ends of the data tasks and upload tasks.
    let ended = Recorder<(any Error)?>()
    private let byteCount = Mutex(0)
    private let partCount = Mutex(0)

    /// The number of bytes in the parts from which the delegate has returned.
    var takenByteCount: Int { byteCount.withLock { $0 } }

    /// The number of parts from which the delegate has returned.
    var takenPartCount: Int { partCount.withLock { $0 } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      goOn.waitBlocking()
      byteCount.withLock { $0 += data.count }
      partCount.withLock { $0 += 1 }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      if task is URLSessionDataTask { ended.record(error) }
    }
  }

  /// A server with a body of `byteCount` bytes at "/long", and a session with a delegate that doesn't receive it yet.
  private struct Stage: Sendable {
    let byteCount: Int
    let windowBytes: Int
    let origin: OriginServer
    let delegate: SlowDelegate
    let session: URLSession
    /// Returns the number of bytes of the body that the server has passed to its kernel. 0 if the body is coded.
    let sentByteCount: @Sendable () -> Int

    func start(_ kind: Kind = .data) -> URLSessionTask {
      let task =
        kind == .upload
        ? session.uploadTask(with: origin.request("/long", "POST"), from: Data("body".utf8))
        : session.dataTask(with: origin.request("/long"))
      task.resume()
      return task
    }

    /// The number of bytes of the task's body that the session has received, including those that no delegate has received yet.
    func receivedByteCount(of task: URLSessionTask) -> Int {
      guard let transfer = task.transfer as? Transfer else { return 0 }
      return transfer.guarded.withLock { Int($0.state.receivedByteCount) + $0.state.batch.body.byteCount }
    }

    /// Lets the event loop serve ten other requests, whose responses don't need the delegate queue.
    func serveOthers() async {
      for _ in 0..<10 {
        let other = session.downloadTask(with: origin.request("/short"))
        other.resume()
        #expect(await settles { other.countOfBytesReceived == 1 })
      }
    }

    /// Waits until the task has filled its receive window, and checks that it receives no more while other requests complete.
    func expectHeldBack(_ task: URLSessionTask) async {
      #expect(await settles { receivedByteCount(of: task) >= windowBytes })
      await serveOthers()
      let count = receivedByteCount(of: task)
      #expect(count == windowBytes, "\(count) bytes were received")
      #expect(delegate.takenByteCount == 0)
    }
  }

  private func withStage(
    _ kind: Kind = .data, byteCount: Int = 16 << 20, windowBytes: Int = Self.windowBytes,
    _ body: (Stage) async throws -> Void
  ) async throws {
    let sentByteCount = Mutex(0)
    let block = [UInt8](repeating: 0x2E, count: min(byteCount, 65_536))
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        guard request.path == "/long" else {
          try peer.respond(body: [1])
          continue
        }
        guard kind != .coded else {
          try peer.send(Reply(.coded([UInt8](repeating: 0, count: byteCount), .gzip)), to: request)
          continue
        }
        try peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(byteCount)\r\n\r\n")
        for _ in 0..<byteCount / block.count {
          try peer.send(block)
          sentByteCount.withLock { $0 += block.count }
        }
      }
    }
    defer { origin.stop() }
    let delegate = SlowDelegate()
    // The session can't end while its delegate waits.
    defer { delegate.goOn.open() }
    try await withSession(delegate: delegate) {
      $0.engine.windowBytes = windowBytes
      $0.urlCache = kind == .uncached ? nil : URLCache(inMemory: 200_000_000)
    } _: { session in
      try await body(
        Stage(
          byteCount: byteCount, windowBytes: windowBytes, origin: origin, delegate: delegate, session: session,
          sentByteCount: { sentByteCount.withLock { $0 } }))
    }
  }

  @Test(
    "while a delegate blocks, its task receives at most one window of the body, and later the rest",
    arguments: Kind.allCases)
  func slowDelegate(kind: Kind) async throws {
    // Without a content coding, the body exceeds the kernel's socket buffers of the client and the server.
    try await withStage(kind, byteCount: kind == .coded ? 16 << 20 : 64 << 20) { stage in
      let task = stage.start(kind)
      await stage.expectHeldBack(task)
      #expect(stage.sentByteCount() < stage.byteCount)
      stage.delegate.goOn.open()
      let error = try #require(await stage.delegate.ended.next())
      #expect(error == nil && stage.delegate.takenByteCount == stage.byteCount)
    }
  }

  @Test("a delegate receives a whole body through a window of the configured size", arguments: [1, 2, 1000])
  func smallWindow(windowBytes: Int) async throws {
    try await withStage(byteCount: 2000, windowBytes: windowBytes) { stage in
      let task = stage.start()
      await stage.expectHeldBack(task)
      stage.delegate.goOn.open()
      let error = try #require(await stage.delegate.ended.next())
      #expect(error == nil && stage.delegate.takenByteCount == stage.byteCount)
    }
  }

  /// A session's delegate that refuses the redirect of a request for "/refused", and follows the others.
  private final class RedirectDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(task.originalRequest?.url?.path == "/refused" ? nil : request)
    }
  }

  @Test(
    "a task receives a body longer than the window, also of a refused redirect or a challenge, or after a redirect",
    arguments: [1000, 70_000])
  func otherBodies(windowBytes: Int) async throws {
    let bodies = (UInt8(1)...3).map { [UInt8](repeating: $0, count: 3 * windowBytes) }
    try await withServer { request in
      switch request.path {
      case "/followed", "/refused":
        return Reply(status: 302, fields: ["Location": "/there", "Cache-Control": "max-age=60"], .bytes(bodies[1]))
      case "/challenge":
        return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], .bytes(bodies[2]))
      default: return Reply(.bytes(bodies[0]))
      }
    } _: { origin in
      try await withSession(delegate: RedirectDelegate()) {
        $0.engine.windowBytes = windowBytes
      } _: { session in
        for (path, status, body) in [
          ("/followed", 200, bodies[0]), ("/refused", 302, bodies[1]), ("/challenge", 401, bodies[2]),
        ] {
          let (data, response) = try await session.data(for: origin.request(path))
          let isWhole = data == Data(body)
          #expect(isWhole && (response as? HTTPURLResponse)?.statusCode == status, "\(path)")
        }
      }
    }
  }

  @Test("a task that is cancelled while its delegate blocks delivers no further part")
  func cancelled() async throws {
    try await withStage { stage in
      let task = stage.start()
      await stage.expectHeldBack(task)
      task.cancel()
      stage.delegate.goOn.open()
      let error = try #require(await stage.delegate.ended.next())
      #expect((error as? URLError)?.code == .cancelled)
      // The delegate waits in the first part, or its queue hasn't called it yet.
      #expect(stage.delegate.takenPartCount <= 1)
    }
  }

  @Test("after the delegate has received the window's bytes, a suspended task receives more only when it is resumed")
  func suspended() async throws {
    try await withStage { stage in
      let task = stage.start()
      await stage.expectHeldBack(task)
      task.suspend()
      stage.delegate.goOn.open()
      #expect(await settles { stage.delegate.takenByteCount == stage.windowBytes })
      await stage.serveOthers()
      #expect(stage.receivedByteCount(of: task) == stage.windowBytes)
      task.resume()
      let error = try #require(await stage.delegate.ended.next())
      #expect(error == nil && stage.delegate.takenByteCount == stage.byteCount)
    }
  }

  @Test(
    "a body longer than the window is cached for a request that waited for it while the delegate blocked")
  func shared() async throws {
    try await withStage(byteCount: 3 << 20) { stage in
      let cache = try #require(stage.session.configuration.urlCache)
      try cache.storeStale(for: stage.origin.request("/long"))
      let task = stage.start()
      #expect(await settles { stage.receivedByteCount(of: task) == stage.windowBytes })
      _ = stage.start()
      #expect(await settles { stage.session.client.cache?.waiterCount == 1 })
      stage.delegate.goOn.open()
      for _ in 0..<2 {
        let error = try #require(await stage.delegate.ended.next())
        #expect(error == nil)
      }
      #expect(stage.delegate.takenByteCount == 2 * stage.byteCount && stage.origin.requestCount == 1)
    }
  }
}
