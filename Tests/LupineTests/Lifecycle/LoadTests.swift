// Many requests, and requests with many handlers and monitors: nothing is left, and the stack doesn't overflow.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct LoadTests {
  // The test runs in a dedicated process, so that no other test affects memory and descriptors.
  @Test("10,000 requests with adapters and retriers, a tenth of them cancelled, release all resources")
  func tenThousand() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let report = try await Load.run()
      try FileHandle.standardError.write(contentsOf: Data("left: \(report)\n".utf8))
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("left: []\n"), "\(words)")
  }

  @Test(
    "10,000 response handlers are called once each and in order, even after a cancellation", arguments: [true, false])
  func manyHandlers(isCancelled: Bool) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.request(origin.url)
        let calls = Log<Int>()
        let isOver = Gate()
        let count = 10_000
        for index in 0..<count {
          request.responseString(queue: session.rootQueue) { response in
            #expect((response.value == "here") != isCancelled)
            if calls.note(index) == count { isOver.open() }
          }
        }
        if isCancelled { request.cancel() } else { request.resume() }
        await isOver.wait()
        #expect(calls.entries.elementsEqual(0..<count) == true)
      }
    }
  }

  @Test(
    "the retrier is called for each of 1,000 failing serializers, whether it decides immediately or later",
    arguments: [true, false])
  func manyQuestions(isLater: Bool) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.request(origin.url)
          .retry(
            using: Retrier { _, _, _, completion in
              if isLater { DispatchQueue.global().async { completion(.doNotRetry) } } else { completion(.doNotRetry) }
            })
        let calls = Log<Bool>()
        let isOver = Gate()
        let count = 1000
        for _ in 0..<count {
          request.response(queue: session.rootQueue, responseSerializer: Serializer<Int> { _, _ in throw Mishap("no") })
          {
            if calls.note($0.error?.isResponseSerializationError == true) == count { isOver.open() }
          }
        }
        request.resume()
        await isOver.wait()
        #expect(calls.entries.count == count && calls.entries.allSatisfy { $0 } == true)
      }
    }
  }

  @Test("each of a request's 2,000 monitors receives the request's events")
  func manyMonitors() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let heard = Log<Void>()
      let isOver = Gate()
      let count = 2000
      struct Monitor: EventMonitor {
        let queue: DispatchQueue
        let onFinish: @Sendable () -> Void
        func requestDidFinish(_ request: Request) { onFinish() }
      }
      let monitors = (0..<count).map { _ in
        Monitor(queue: .global()) { if heard.note(()) == count { isOver.open() } }
      }
      try await keeping(Session(configuration: .forTests, eventMonitors: monitors)) { session in
        #expect(await session.request(origin.url).serializingString().response.value == "here")
        await isOver.wait()
      }
    }
  }
}

/// Sends thousands of requests, some of which fail, are retried or are cancelled, and lists the resources that remain.
private enum Load {
  private static let count = repetitions(of: 10_000)

  static func run() async throws -> [String] {
    let origin = try OriginServer.serving { request in
      switch Int(request.path.dropFirst()).map({ $0 % 20 }) {
      case 3: Reply(status: 503)
      case 7: redirect(to: "/0")
      default: .text("here")
      }
    }
    let session = Session(configuration: .forTests, interceptor: interceptor)
    var left: [String] = []
    try await batch(of: 2000, origin.url, session)
    let before = residentByteCount
    try await batch(of: count, origin.url, session)
    let growth = residentByteCount - before
    // If 10,000 requests were retained, they would take at least 50 MB.
    if !Resources.isSanitized, growth > 10_000_000 { left.append("\(growth) bytes") }
    if await !session.running.isEmpty { left.append("requests") }
    if await !session.session.allTasks.isEmpty { left.append("tasks") }
    // It takes a while until the server's threads notice that a cancelled request has closed its connection.
    if await !settles({ origin.openConnectionCount <= 6 }) { left.append("\(origin.openConnectionCount) connections") }
    return left
  }

  /// An interceptor that adapts and retries asynchronously, so that requests overlap. It retries each failed request once.
  private static var interceptor: Interceptor {
    Interceptor(
      adaptHandler: { request, _, completion in DispatchQueue.global().async { completion(.success(request)) } },
      retryHandler: { request, _, _, completion in
        let isFirst = request.retryCount == 0
        DispatchQueue.global().async { completion(isFirst ? .retryWithDelay(0.001) : .doNotRetry) }
      })
  }

  private static func batch(of count: Int, _ url: String, _ session: Session) async throws {
    var random = SplitMix64(seed: UInt64(count))
    let calls = Atomic(0)
    for wave in 0..<(count / 200) {
      let isOver = Gate()
      for index in 0..<200 {
        let request = session.request("\(url)/\(index)").validate()
        let isCancelled = index.isMultiple(of: 10)
        request.response(queue: .global()) { response in
          if let error = response.error, !error.isExplicitlyCancelledError, error.responseCode != 503 {
            Issue.record("\(error)")
          }
          if calls.add(1, ordering: .relaxed).newValue == (wave + 1) * 200 { isOver.open() }
        }
        // The delay is at most 20 ms, so the request can be in any stage when it is cancelled.
        if isCancelled {
          let moment = Double(random.next() % 20_000) / 1_000_000
          DispatchQueue.global().asyncAfter(deadline: .now() + moment) { request.cancel() }
        }
      }
      await isOver.wait()
    }
    await session.rootQueue.drain()
  }

  private static var residentByteCount: Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
      .first
    return (pages.flatMap { Int($0) } ?? 0) * 4096
  }
}
