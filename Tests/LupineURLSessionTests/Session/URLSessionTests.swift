// `URLSession` with a delegate: the order of its calls, its decisions, and cancellation.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct URLSessionTests {
  /// The kind of the delegate queue that the test passes to URLSession, such as a serial or a concurrent queue.
  enum Queue: CaseIterable, Sendable {
    case own, serial, concurrent, concurrentBeneath

    var operations: OperationQueue? {
      let operations = OperationQueue()
      switch self {
      case .own: return nil
      case .serial: operations.maxConcurrentOperationCount = 1
      case .concurrent: operations.maxConcurrentOperationCount = 8
      case .concurrentBeneath:
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = .global()
      }
      return operations
    }
  }

  private static var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 100
    return configuration
  }

  /// Records the identifiers and states of created tasks.
  private final class CreationDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    let created = Mutex<[String]>([])
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
      created.withLock { $0.append("\(task.taskIdentifier) \(task.state == .suspended)") }
    }
  }

  @Test("the delegate is told of each task before the method that creates it returns, also of those of async methods")
  func creation() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (delegate, own) = (CreationDelegate(), CreationDelegate())
      try await withSession(delegate: delegate) { session in
        _ = session.dataTask(with: origin.request())
        _ = session.uploadTask(with: origin.request(), from: Data()) { _, _, _ in }
        #expect(delegate.created.withLock { $0 } == ["1 true", "2 true"])
        _ = try await session.data(for: origin.request(), delegate: own)
        _ = try await session.bytes(for: origin.request(), delegate: own)
        #expect(own.created.withLock { $0 } == ["3 true", "4 true"])
        #expect(delegate.created.withLock { $0 }.count == 4)
      }
    }
  }

  @Test("a challenge for a password doesn't reach the delegate's method for challenges of connections")
  func passwordChallenge() async throws {
    final class Pinning: NSObject, URLSessionDelegate, Sendable {
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) { completionHandler(.cancelAuthenticationChallenge, nil) }
    }
    try await withServer { _ in
      Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    } _: { origin in
      try await withSession(delegate: Pinning()) { session in
        let (_, response) = try await session.data(for: origin.request())
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
      }
    }
  }

  @Test(
    "a URLSession's delegate receives the events of data tasks in order and one at a time", arguments: Queue.allCases)
  func steps(queue: Queue) async throws {
    try await withServer { request in
      .text(request.path)
    } _: { origin in
      let delegate = Witness()
      let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: queue.operations)
      let tasks = (0..<50).map { session.dataTask(with: URLRequest(url: URL(string: "\(origin.url)/\($0)")!)) }
      #expect(tasks.map(\.taskIdentifier) == Array(1...50))
      for task in tasks {
        #expect(task.state == .suspended)
        task.resume()
      }
      session.finishTasksAndInvalidate()
      await delegate.isOver.wait()
      for (index, task) in tasks.enumerated() {
        #expect(delegate.steps[task.taskIdentifier] == ["head 200", "data /\(index)", "store", "metrics 1", "end"])
        #expect(task.state == .completed && task.error == nil)
      }
      #expect(delegate.overlaps == 0)
      #expect(delegate.steps[0] == ["invalid"])
      #expect(await settles { session.delegate == nil })
    }
  }

  @Test("a URLSession's delegate can follow or decline redirects, answer challenges and refuse response bodies")
  func decisions() async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/moved", _): Reply(status: 302, fields: ["Location": "/there"])
      case ("/guarded", nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      default: .text("\(request.path) \(request.fields.first("Authorization") ?? "")")
      }
    } _: { origin in
      let delegate = Witness()
      delegate.setCredential(URLCredential(user: "u", password: "p", persistence: .none))
      let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
      for path in ["moved", "moved?stay", "guarded", "guarded?cancel", "unwanted"] {
        session.dataTask(with: URLRequest(url: URL(string: "\(origin.url)/\(path)")!)).resume()
      }
      session.finishTasksAndInvalidate()
      await delegate.isOver.wait()
      let end = ["store", "metrics 2", "end"]
      #expect(delegate.steps[1] == ["redirect 302 /there", "head 200", "data /there "] + end)
      #expect(delegate.steps[2] == ["redirect 302 /there", "head 302", "metrics 1", "end"])
      #expect(delegate.steps[3] == ["challenge r 0", "head 200", "data /guarded Basic dTpw"] + end)
      #expect(delegate.steps[4] == ["challenge r 0", "metrics 1", "end cancelled"])
      #expect(delegate.steps[5] == ["head 200", "metrics 1", "end cancelled"])
    }
  }

  @Test("a cancelled task completes once, whether or not it was resumed, and however often it is cancelled")
  func cancel() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      let delegate = Witness()
      let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
      let request = URLRequest(url: URL(string: origin.url)!)
      let (fresh, running, bad) = (
        session.dataTask(with: request), session.dataTask(with: request),
        session.dataTask(with: URLRequest(url: URL(string: "mailto:somebody")!))
      )
      running.resume()
      await arrived.wait()
      for task in [fresh, running] {
        DispatchQueue.concurrentPerform(iterations: 8) { _ in task.cancel() }
        task.resume()
      }
      bad.resume()
      bad.cancel()
      session.finishTasksAndInvalidate()
      await delegate.isOver.wait()
      #expect(delegate.steps[1] == ["metrics 0", "end cancelled"])
      #expect(delegate.steps[2] == ["metrics 1", "end cancelled"])
      #expect(delegate.steps[3]?.count == 2)
      #expect(delegate.steps[0] == ["invalid"])
      for task in [fresh, running] {
        #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
      }
    }
  }

  /// The delegate's method in which the test cancels the task.
  enum Moment: String, CaseIterable, Sendable {
    case redirect, challenge, head, data, store, metrics, end
  }

  @Test(
    "a task that is cancelled inside of a delegate's method completes once, and sends no further request",
    arguments: Moment.allCases)
  func cancelInside(moment: Moment) async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/", _): Reply(status: 302, fields: ["Location": "/guarded"])
      case (_, nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      default: .text("here")
      }
    } _: { origin in
      let delegate = Witness(cancellingAt: moment)
      delegate.setCredential(URLCredential(user: "u", password: "p", persistence: .none))
      let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
      session.dataTask(with: origin.request()).resume()
      session.finishTasksAndInvalidate()
      await delegate.isOver.wait()
      let steps = ["redirect 302 /guarded", "challenge r 0", "head 200", "data here", "store", "metrics 3", "end"]
      let index = try #require(steps.firstIndex { $0.hasPrefix(moment.rawValue) })
      let requestCount = min(index + 1, 3)
      let expected =
        switch moment {
        case .metrics, .end: steps
        default: Array(steps.prefix(index + 1)) + ["metrics \(requestCount)", "end cancelled"]
        }
      #expect(delegate.steps[1] == expected)
      #expect(delegate.steps[0] == ["invalid"] && origin.requestCount == requestCount)
    }
  }

  @Test("a URLSessionTask that is cancelled while it is starting completes once")
  func cancelAtStart() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let delegate = Witness()
      let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
      let tasks = (0..<500).map { index in
        session.dataTask(with: URLRequest(url: URL(string: index.isMultiple(of: 2) ? origin.url : "mailto:nobody")!))
      }
      for task in tasks {
        DispatchQueue.concurrentPerform(iterations: 2) { index in if index == 0 { task.resume() } else { task.cancel() }
        }
      }
      session.finishTasksAndInvalidate()
      await delegate.isOver.wait()
      let ends = tasks.map { task in delegate.steps[task.taskIdentifier]?.count { $0.hasPrefix("end") } }
      #expect(ends.allSatisfy { $0 == 1 } == true)
      #expect(delegate.steps[0] == ["invalid"])
    }
  }

  @Test("a task created in an invalidated session fails, and the delegate is notified of the invalidation only once")
  func afterInvalidation() async throws {
    let delegate = Witness()
    let session = URLSession(configuration: Self.configuration, delegate: delegate, delegateQueue: nil)
    session.finishTasksAndInvalidate()
    let task = session.dataTask(with: URLRequest(url: URL(string: "http://127.0.0.1:1")!))
    task.resume()
    session.invalidateAndCancel()
    await delegate.isOver.wait()
    #expect(await settles { task.state == .completed })
    #expect((task.error as? URLError)?.code == .cancelled)
    #expect(task.error?.localizedDescription.contains("invalidated") == true)
    #expect(await session.allTasks.isEmpty)
    #expect(delegate.steps[0] == ["invalid"])
  }

  @Test("the error of a failed or canceled task contains the request's URL, as a URL and as text")
  func failingURL() async throws {
    let session = URLSession(configuration: Self.configuration)
    let url = try #require(URL(string: "http://127.0.0.1:1/a"))
    let canceled = await outcome { handler in
      let task = session.dataTask(with: url, completionHandler: handler)
      task.cancel()
      return task
    }
    var withBody = URLRequest(url: url)
    withBody.httpBody = Data([1])
    let (request, refused) = (withBody, await outcome { session.dataTask(with: url, completionHandler: $0) })
    let oversized = await outcome { session.dataTask(with: request, completionHandler: $0) }
    #expect(canceled.code == .cancelled && oversized.code == .dataLengthExceedsMaximum)
    for error in [canceled.error, refused.error, oversized.error] {
      let error = try #require(error as? URLError)
      let text = error.userInfo["NSErrorFailingURLStringKey"] as? String
      #expect(error.failingURL == url && text == url.absoluteString)
    }
    session.invalidateAndCancel()
  }

  @Test("a URLSession without a delegate completes its tasks")
  func noDelegate() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let session = URLSession(configuration: Self.configuration)
      let task = session.dataTask(with: URLRequest(url: URL(string: origin.url)!))
      task.resume()
      #expect(await settles { task.state == .completed })
      #expect((task.response as? HTTPURLResponse)?.statusCode == 200 && task.countOfBytesReceived == 4)
      #expect(await session.allTasks.isEmpty)
      session.invalidateAndCancel()
    }
  }
}

/// A delegate that records the calls of its methods for each task identifier, and the calls about the session under 0.
// Unchecked, because NSObject isn't final. All state is in mutexes and atomics.
private final class Witness: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  let isOver = Gate()
  private let notes = Mutex<[Int: [String]]>([:])
  private let credential = Mutex<URLCredential?>(nil)
  private let isTaken = Atomic(false)
  private let overlapCount = Atomic(0)
  private let moment: URLSessionTests.Moment?

  /// Creates a delegate that cancels each task when the task's event `moment` is reported, or no task if `moment` is nil.
  init(cancellingAt moment: URLSessionTests.Moment? = nil) {
    self.moment = moment
    super.init()
  }

  var steps: [Int: [String]] { notes.withLock { $0 } }
  var overlaps: Int { overlapCount.load(ordering: .relaxed) }

  func setCredential(_ credential: URLCredential) { self.credential.withLock { $0 = credential } }

  private func note(_ step: String, _ task: URLSessionTask?) {
    if isTaken.exchange(true, ordering: .acquiringAndReleasing) { overlapCount.add(1, ordering: .relaxed) }
    notes.withLock { $0[task?.taskIdentifier ?? 0, default: []].append(step) }
    isTaken.store(false, ordering: .releasing)
    if let moment, step.hasPrefix(moment.rawValue) { task?.cancel() }
  }

  private func query(_ task: URLSessionTask) -> String? { task.originalRequest?.url?.query() }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    note("invalid", nil)
    isOver.open()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    note("redirect \(response.statusCode) \(request.url?.path() ?? "")", task)
    completionHandler(query(task) == "stay" ? nil : request)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    note("challenge \(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)", task)
    if query(task) == "cancel" { return completionHandler(.cancelAuthenticationChallenge, nil) }
    DispatchQueue.global().async { completionHandler(.useCredential, self.credential.withLock { $0 }) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    note("head \((response as? HTTPURLResponse)?.statusCode ?? 0)", dataTask)
    completionHandler(dataTask.originalRequest?.url?.path() == "/unwanted" ? .cancel : .allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    note("data \(String(decoding: data, as: UTF8.self))", dataTask)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    note("store", dataTask)
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    note("metrics \(metrics.transactionMetrics.count)", task)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let code = (error as? URLError)?.code
    note(error == nil ? "end" : code == .cancelled ? "end cancelled" : "end \(code?.rawValue ?? 0)", task)
  }
}
