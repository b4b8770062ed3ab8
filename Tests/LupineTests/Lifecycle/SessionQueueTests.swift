// The queues on which a session does its work and calls its handlers.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionQueueTests {
  @Test("a session that is created with a concurrent root queue uses a serial queue that targets the concurrent queue")
  func concurrentRoot() async throws {
    let given = DispatchQueue(label: "root", attributes: .concurrent)
    let isOnGiven = given.marked()
    let session = Session(rootQueue: given)
    #expect(session.rootQueue !== given && session.rootQueue.label == "root")
    #expect(session.session.delegateQueue.underlyingQueue === session.rootQueue)
    let isTaken = Atomic(false)
    let overlaps = Atomic(0)
    for _ in 0..<500 {
      session.rootQueue.async {
        if isTaken.exchange(true, ordering: .acquiringAndReleasing) { overlaps.add(1, ordering: .relaxed) }
        if !isOnGiven() { overlaps.add(1, ordering: .relaxed) }
        isTaken.store(false, ordering: .releasing)
      }
    }
    await session.rootQueue.drain()
    let overlapCount = overlaps.load(ordering: .relaxed)
    #expect(overlapCount == 0)
  }

  @Test("a session that is created with the main queue as root queue uses the main queue itself")
  func mainRoot() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await keeping(Session(configuration: .forTests, rootQueue: .main)) { session in
        #expect(session.rootQueue.label == DispatchQueue.main.label)
        let isOnMain = DispatchQueue.main.marked()
        let isMain = Atomic(false)
        let request = session.request(origin.url).validate { _, _, _ in
          isMain.store(isOnMain(), ordering: .relaxed)
          return .success(())
        }
        #expect(await request.serializingString().response.value == "here")
        let wasMain = isMain.load(ordering: .relaxed)
        #expect(wasMain)
      }
    }
  }

  @Test(
    "a session creates and adapts requests on the request queue, and serializes responses on the serialization queue",
    arguments: [true, false])
  func ownQueues(isConcurrent: Bool) async throws {
    let attributes: DispatchQueue.Attributes = isConcurrent ? .concurrent : []
    let requestQueue = DispatchQueue(label: "requests", attributes: attributes)
    let serializationQueue = DispatchQueue(label: "serialization", attributes: attributes)
    let (isOnRequests, isOnSerialization) = (requestQueue.marked(), serializationQueue.marked())
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let session = Session(
        configuration: .forTests, requestQueue: requestQueue, serializationQueue: serializationQueue)
      #expect(session.requestQueue === requestQueue && session.serializationQueue === serializationQueue)
      let isOnRoot = session.rootQueue.marked()
      try await keeping(session) { session in
        let steps = Log<String>()
        let note: @Sendable (String, Bool) -> Void = {
          if !$1 { steps.note("\($0) elsewhere") } else { steps.note($0) }
        }
        let tasks = (0..<50).map { _ in
          session.request(Convertible(url: origin.url, onMaking: { note("made", isOnRequests()) }))
            .adapt(
              using: Adapter { request, _, completion in
                note("adapted", isOnRequests())
                completion(.success(request))
              }
            )
            .validate { _, _, _ in
              note("validated", isOnRoot())
              return .success(())
            }
            .serializingResponse(
              using: Serializer { data, _ in
                note("serialised", isOnSerialization())
                return data?.count
              })
        }
        for task in tasks { #expect(await task.response.value == 4) }
        let counts = Dictionary(grouping: steps.entries) { $0 }.mapValues(\.count)
        #expect(counts == ["made": 50, "adapted": 50, "validated": 50, "serialised": 50])
      }
    }
  }

  @Test("by default, a session creates requests, calls retriers and serializes responses on its root queue")
  func rootForAll() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let isOnRoot = session.rootQueue.marked()
        let steps = Log<Bool>()
        let request = session.request(Convertible(url: origin.url, onMaking: { steps.note(isOnRoot()) }))
          .retry(
            using: Retrier { _, _, _, completion in
              steps.note(isOnRoot())
              completion(.doNotRetry)
            })
        let task = request.serializingResponse(
          using: Serializer<Int> { _, _ in
            steps.note(isOnRoot())
            throw Mishap("serializer")
          })
        _ = await task.response
        #expect(steps.entries == [true, true, true])
      }
    }
  }

  @Test("by default, handlers are called on the main queue, and curl commands are delivered on the root queue")
  func defaultQueues() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (isOnRoot, isOnMain) = (session.rootQueue.marked(), DispatchQueue.main.marked())
        let steps = Log<String>()
        let done = Gate()
        let note: @Sendable (String) -> Void = { steps.note("\($0) \(isOnMain() ? "main" : "elsewhere")") }
        session.request(origin.url)
          .onURLRequestCreation { _ in note("request") }
          .onURLSessionTaskCreation { _ in note("task") }
          .cURLDescription { _ in steps.note("curl \(isOnRoot() ? "root" : "elsewhere")") }
          .onHTTPResponse { _ in note("head") }
          .downloadProgress { _ in note("progress") }
          .response { _ in
            note("response")
            done.open()
          }
        await done.wait()
        #expect(
          Set(steps.entries) == [
            "request main", "task main", "curl root", "head main", "progress main", "response main",
          ])
      }
    }
  }

  @Test("a task that awaits a response receives it even while the main thread is blocked")
  func busyMain() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (isBusy, mayGoOn) = (Gate(), Gate())
        DispatchQueue.main.async {
          isBusy.open()
          mayGoOn.waitBlocking()
        }
        await isBusy.wait()
        let value = await session.request(origin.url).serializingString().response.value
        mayGoOn.open()
        #expect(value == "here")
      }
    }
  }

  @Test("a session can be released on its own root queue")
  func releasedOnRoot() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      let box = Mutex<Session?>(Session(configuration: .forTests))
      let request = try #require(box.withLock { $0 }).request(origin.url)
      async let response = request.outcome()
      await arrived.wait()
      let root = request.underlyingQueue
      let weakly = WeakReference(box.withLock { $0 })
      let released = Holder(box.withLock { $0.take() })
      root.async { released.release() }
      #expect(await response.error?.isSessionDeinitializedError == true)
      #expect(await settles { weakly.object == nil })
    }
  }

  /// Retains a session until the test calls `release()`.
  private final class Holder: Sendable {
    private let session: Mutex<Session?>
    init(_ session: sending Session?) { self.session = Mutex(session) }
    func release() { session.withLock { $0 = nil } }
  }
}
