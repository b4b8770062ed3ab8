// EventMonitor: which monitors are notified of which events, on which queue, in which order and how often.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct EventMonitorTests {
  // MARK: Monitors and queues

  @Test("a monitor that is notified of a failed adaptation can read the request's error")
  func errorBeforeNotification() async throws {
    let errors = Recorder<AFError?>()
    let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
    monitor.requestDidFailToAdaptURLRequestWithError = { request, _, _ in errors.record(request.error) }
    monitor.requestDidFailToCreateURLRequestWithError = { request, _ in errors.record(request.error) }
    let session = Session(configuration: .af.ephemeral, eventMonitors: [monitor])
    let adapter = Adapter { _, _, completion in completion(.failure(URLError(.cancelled))) }
    _ = await session.request("http://127.0.0.1:1/", interceptor: adapter).outcome()
    #expect(await errors.next()??.isRequestAdaptationError == true)
    _ = await session.request("").outcome()
    #expect(await errors.next()??.isInvalidURLError == true)
  }

  @Test("an event notifies the session's monitors first, and then the request's, each group in the order of addition")
  func order() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let log = CallLog()
      let queue = DispatchQueue(label: "all monitors")
      try await withMonitoredSession([log.monitor("s1", on: queue), log.monitor("s2", on: queue)]) { session in
        let request = session.request(origin.url)
        request.eventMonitor(log.monitor("r1", on: queue)).eventMonitor(log.monitor("r2", on: queue))
        request.resume()
        _ = await request.serializingString().response
        await queue.turn()
        let names = log.entries
        // The events are requestDidResume, taskDidComplete, requestDidCompleteTaskWithError and requestDidFinish. A request's
        // monitors don't receive taskDidComplete, because that is an event of URLSession.
        let (sessions, all) = (["s1", "s2"], ["s1", "s2", "r1", "r2"])
        #expect(names == all + sessions + all + all)
      }
    }
  }

  @Test("a request's monitor receives the request's events in order, but no events of URLSession")
  func requestEvents() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (sessions, requests) = (EventRecorder(), EventRecorder())
      try await withMonitoredSession([sessions]) { session in
        let request = session.request(origin.url).eventMonitor(requests)
        let names = await requests.events(of: request)
        #expect(
          names == [
            .requestDidResume, .requestDidCreateInitialURLRequest, .requestDidCreateURLRequest, .requestDidCreateTask,
            .requestDidResumeTask, .requestDidGatherMetrics, .requestDidCompleteTaskWithError, .requestDidFinish,
            .requestDidParseResponse,
          ])
        let all = await sessions.names(about: request)
        #expect(all.filter { $0.isOfRequest }.dropLast() == names[...])
        #expect(all.contains(.dataTaskDidReceiveData) && sessions.misplacedCount == 0)
      }
    }
  }

  @Test(
    "the monitors of a request receive no URLSession events, whether or not the session also has monitors",
    arguments: [true, false])
  func everyKind(isMonitored: Bool) async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/0", nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      case ("/0", _), ("/open", _): .text("here")
      default: redirect(to: "/0", status: 307)
      }
    } _: { origin in
      let (sessions, requests) = (EventRecorder(), EventRecorder())
      try await withMonitoredSession(isMonitored ? [sessions] : []) { session in
        let data = session.request(origin.url)
        let upload = session.upload(Data("body".utf8), to: origin.url)
        let streamed = session.upload(InputStream(data: Data("body".utf8)), to: origin.url + "/open")
        let download = session.download(origin.url)
        let stream = session.streamRequest(origin.url)
        let challenged: [Request] = [data, upload, download, stream]
        for request in challenged + [streamed] {
          request.authenticate(username: "u", password: "p").eventMonitor(requests).resume()
        }
        _ = await (data.outcome(), upload.outcome(), streamed.outcome(), stream.outcome())
        if let file = await download.outcome().fileURL { try FileManager.default.removeItem(at: file) }
        for request in challenged + [streamed] {
          let names = await requests.names(about: request)
          #expect(names.contains(.requestDidGatherMetrics) && names.allSatisfy { $0.isOfRequest })
          guard isMonitored else { continue }
          let all = await sessions.names(about: request)
          #expect(all.filter { $0.isOfRequest } == names)
          #expect(all.contains(.taskDidComplete))
          #expect(all.contains(request === streamed ? .taskNeedNewBodyStream : .taskDidReceiveChallenge))
        }
        #expect(requests.names.allSatisfy { $0.isOfRequest })
      }
    }
  }

  @Test("a request's monitor receives only that request's events, and a session's monitor the events of all requests")
  func twoRequests() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (sessions, requests) = (EventRecorder(), EventRecorder())
      try await withMonitoredSession([sessions]) { session in
        let watched = session.request(origin.url).eventMonitor(requests)
        let other = session.request(origin.url)
        async let first = watched.resume().serializingString().response
        async let second = other.resume().serializingString().response
        _ = await (first, second)
        let (names, otherNames) = await (sessions.names(about: watched), sessions.names(about: other))
        #expect(names.count == 14 && names == otherNames)
        let own = await requests.names(about: watched)
        #expect(own == names.filter { $0.isOfRequest } && requests.names == own)
      }
    }
  }

  @Test("by default, an event monitor is called on the main queue")
  func defaultQueue() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let isMain = Recorder<Bool>()
      let monitor = ClosureEventMonitor()
      // Checks the queue, not the thread: after an asynchronous main(), another thread drains the main queue.
      let key = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: key, value: true)
      monitor.requestDidFinish = { _ in isMain.record(DispatchQueue.getSpecific(key: key) == true) }
      try await withMonitoredSession([monitor]) { session in
        _ = await session.request(origin.url).resume().serializingString().response
        #expect(await isMain.next() == true)
      }
    }
    struct Silent: EventMonitor {}
    #expect(Silent().queue.label == DispatchQueue.main.label)
    #expect(ClosureEventMonitor().queue.label == DispatchQueue.main.label)
  }

  @Test("a session's monitors are notified of its invalidation, even if it has no requests")
  func invalidation() async throws {
    let names = Recorder<EventName>()
    let monitor = ClosureEventMonitor(queue: .global())
    monitor.sessionDidBecomeInvalidWithError = { _, error in
      if error == nil { names.record(.sessionDidBecomeInvalidWithError) }
    }
    try await withMonitoredSession([monitor]) { session in
      session.session.invalidateAndCancel()
      #expect(await names.next() == .sessionDidBecomeInvalidWithError)
    }
  }

  @Test("a request's eventMonitor is nil without monitors, and otherwise calls the session's monitors first")
  func monitorsOfARequest() async throws {
    let (one, two) = (EventRecorder(), EventRecorder())
    try await withMonitoredSession([]) { session in
      #expect(session.request("http://127.0.0.1:1").eventMonitor == nil)
    }
    try await withMonitoredSession([one]) { session in
      let request = session.request("http://127.0.0.1:1").eventMonitor(two)
      let monitors = try #require(request.eventMonitor as? CompositeEventMonitor).monitors
      #expect(monitors.map { ObjectIdentifier($0 as AnyObject) } == [ObjectIdentifier(one), ObjectIdentifier(two)])
      #expect(session.eventMonitor.queue.label == session.rootQueue.label)
      #expect(session.eventMonitor.monitors.count == 1)
    }
  }

  // MARK: Number of events

  @Test("a hundred concurrent calls of resume, suspend or cancel cause one event for the request and one for its task")
  func concurrentCalls() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      let recorder = EventRecorder()
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        await manyTimes { request.resume() }
        await arrived.wait()
        await manyTimes { request.suspend() }
        await manyTimes { request.cancel() }
        await manyTimes { request.resume() }
        _ = await request.outcome()
        let names = await recorder.names(about: request)
        let transitions: [EventName] = [
          .requestDidResume, .requestDidResumeTask, .requestDidSuspend, .requestDidSuspendTask, .requestDidCancel,
          .requestDidCancelTask,
        ]
        #expect(names.filter(transitions.contains) == transitions)
        #expect(request.tasks.count == 1)
      }
    }
  }

  @Test("if a request is resumed and suspended concurrently, its events arrive in the order of its state changes")
  func alternation() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      let recorder = EventRecorder()
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url).resume()
        await arrived.wait()
        await manyTimes { request.suspend().resume() }
        let isResumed = request.isResumed
        request.cancel()
        _ = await request.outcome()
        let names = await recorder.names(about: request)
        let (on, off) = (EventName.requestDidResume, EventName.requestDidSuspend)
        let ofRequest = names.filter { $0 == on || $0 == off }
        #expect(zip(ofRequest, ofRequest.dropFirst()).allSatisfy { $0 != $1 })
        #expect(ofRequest.first == on && ofRequest.last == (isResumed ? on : off))
        let (taskOn, taskOff) = (EventName.requestDidResumeTask, EventName.requestDidSuspendTask)
        #expect(names.filter { $0 == taskOn || $0 == taskOff } == ofRequest.map { $0 == on ? taskOn : taskOff })
      }
    }
  }

  @Test("each of 500 requests with a small body causes every event exactly once")
  func smallBodies() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let recorder = EventRecorder()
      try await withMonitoredSession([recorder]) { session in
        for _ in 0..<500 { _ = await session.request(origin.url).resume().serializingString().response }
        await recorder.queue.turn()
        let counts = Dictionary(grouping: recorder.names) { $0 }.mapValues(\.count)
        #expect(counts.count == 14 && counts.values.allSatisfy { $0 == 500 })
        #expect(counts[.dataTaskDidReceiveData] == 500 && counts[.dataTaskWillCacheResponse] == 500)
        #expect(counts[.taskDidFinishCollectingMetrics] == 500)
      }
    }
  }

  // MARK: Parameters of events

  @Test("the event for a task's completion contains only the task's error, not an error from validation")
  func completionErrors() async throws {
    try await withServer { request in
      .text("here", status: request.path == "/bad" ? 404 : 200)
    } _: { origin in
      let errors = Recorder<AFError?>()
      let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "errors"))
      monitor.requestDidCompleteTaskWithError = { _, _, error in errors.record(error) }
      try await withMonitoredSession([monitor]) { session in
        let refused = await session.request(origin.url + "/bad").validate().resume().serializingString().response
        #expect(refused.error?.responseCode == 404)
        let none = try #require(await errors.first(1).first)
        #expect(none == nil)
        _ = await session.request("http://127.0.0.1:1").resume().serializingString().response
        let error = try #require(await errors.first(1).first ?? nil)
        #expect((error.underlyingError as? URLError)?.code == .cannotConnectToHost)
      }
    }
  }

  @Test("the parameters of a monitor's events contain the requests, responses, bodies and metrics")
  func contents() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let texts = Recorder<String>()
      let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "contents"))
      monitor.requestDidAdaptInitialRequestToAdaptedRequest = { _, initial, adapted in
        texts.record("\(initial.headers["Adapted"] ?? "no"), then \(adapted.headers["Adapted"] ?? "no")")
      }
      monitor.dataTaskDidReceiveResponse = { _, _, response in
        texts.record("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
      }
      monitor.dataTaskDidReceiveData = { _, _, data in texts.record(String(decoding: data, as: UTF8.self)) }
      monitor.dataTaskWillCacheResponse = { _, _, response in texts.record("cache \(response.data.count)") }
      monitor.requestDidGatherMetrics = { request, metrics in
        texts.record("\(metrics.transactionMetrics.count), \(request.metrics === metrics)")
      }
      monitor.requestDidParseResponse = { request, response in
        texts.record("\(response.value??.count ?? 0), \(response.request == request.request)")
      }
      try await withMonitoredSession([monitor]) { session in
        let adapter = Adapter { request, _, completion in
          var request = request
          request.headers.add(name: "Adapted", value: "yes")
          completion(.success(request))
        }
        let request = session.request(origin.url).adapt(using: adapter)
        request.response(queue: .global()) { _ in }
        request.resume()
        #expect(await texts.first(6) == ["no, then yes", "200", "here", "cache 4", "1, true", "4, true"])
      }
    }
  }
}

/// Records the names of the event monitors that were called, in order.
private final class CallLog: Sendable {
  private let names = Mutex<[String]>([])

  var entries: [String] { names.withLock { $0 } }

  /// Returns an event monitor that appends its name to the log at four events, such as `requestDidResume`.
  func monitor(_ name: String, on queue: DispatchQueue) -> ClosureEventMonitor {
    let monitor = ClosureEventMonitor(queue: queue)
    let note: @Sendable () -> Void = { self.names.withLock { $0.append(name) } }
    monitor.requestDidResume = { _ in note() }
    monitor.taskDidComplete = { _, _, _ in note() }
    monitor.requestDidCompleteTaskWithError = { _, _, _ in note() }
    monitor.requestDidFinish = { _ in note() }
    return monitor
  }
}

/// Calls `body` a hundred times, on several threads.
private func manyTimes(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      DispatchQueue.concurrentPerform(iterations: 100) { _ in body() }
      continuation.resume()
    }
  }
}
