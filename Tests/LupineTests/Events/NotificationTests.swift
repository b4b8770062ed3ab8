// NotificationTests: the notifications that `AlamofireNotifications`, the default monitor, posts about requests.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct NotificationTests {
  private static let names: [Notification.Name: String] = [
    Request.didResumeNotification: "didResume", Request.didResumeTaskNotification: "didResumeTask",
    Request.didSuspendNotification: "didSuspend", Request.didSuspendTaskNotification: "didSuspendTask",
    Request.didCancelNotification: "didCancel", Request.didCancelTaskNotification: "didCancelTask",
    Request.didCompleteTaskNotification: "didCompleteTask", Request.didFinishNotification: "didFinish",
  ]

  /// Calls `body` with a request to a server that doesn't respond until the test opens `mayAnswer`. Waits until the request
  /// has ended, and returns the notifications posted about the request, oldest first.
  private func notifications(
    eventMonitors: [any EventMonitor]? = nil, _ body: (DataRequest, _ arrived: Gate, _ mayAnswer: Gate) async -> Void
  ) async throws -> [String] {
    let (arrived, mayAnswer) = (Gate(), Gate())
    return try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      try peer.wait(for: mayAnswer)
      try peer.respond(fields: ["Connection": "close"], body: [1])
    } _: { origin in
      let session =
        eventMonitors.map { Session(startRequestsImmediately: false, eventMonitors: $0) }
        ?? Session(startRequestsImmediately: false)
      let request = session.request(origin.url)
      let observer = NotificationObserver(request, Self.names)
      defer { observer.stop() }
      await body(request, arrived, mayAnswer)
      _ = await request.outcome()
      #expect(observer.misplacedCount == 0)
      return withExtendedLifetime(session) { observer.posted }
    }
  }

  @Test("AlamofireNotifications' eight notifications of requests and tasks have the same names as in Alamofire 5")
  func publishedNames() {
    for (name, event) in Self.names {
      #expect(name.rawValue == "org.alamofire.notification.name.request.\(event)")
    }
    #expect(Self.names.count == 8)
  }

  @Test("a request that is suspended, resumed and completed posts a notification for each event, in order")
  func answered() async throws {
    let posted = try await notifications { request, arrived, mayAnswer in
      request.resume()
      await arrived.wait()
      request.suspend()
      request.resume()
      mayAnswer.open()
    }
    #expect(
      posted == [
        "didResume", "didResumeTask", "didSuspend", "didSuspendTask", "didResume", "didResumeTask", "didCompleteTask",
        "didFinish",
      ])
  }

  @Test("cancelling a running request posts one notification for the request and one notification for its task")
  func cancelled() async throws {
    let posted = try await notifications { request, arrived, _ in
      request.resume()
      await arrived.wait()
      request.cancel()
    }
    #expect(posted == ["didResume", "didResumeTask", "didCancel", "didCancelTask", "didCompleteTask", "didFinish"])
  }

  @Test("a request that is suspended and cancelled before it is resumed posts no task notifications")
  func neverStarted() async throws {
    let posted = try await notifications { request, _, _ in
      request.suspend()
      request.cancel()
    }
    #expect(posted == ["didSuspend", "didCancel", "didFinish"])
  }

  @Test("a session without monitors posts no notifications")
  func none() async throws {
    let posted = try await notifications(eventMonitors: []) { request, _, mayAnswer in
      request.resume()
      mayAnswer.open()
    }
    #expect(posted.isEmpty)
  }

  @Test(
    "AlamofireNotifications posts notifications both as one of a session's several monitors and as a request's monitor")
  func withOthers() async throws {
    let expected = ["didResume", "didResumeTask", "didCompleteTask", "didFinish"]
    let recorder = EventRecorder()
    let posted = try await notifications(eventMonitors: [recorder, AlamofireNotifications()]) { request, _, mayAnswer in
      request.resume()
      mayAnswer.open()
      _ = await request.outcome()
      #expect(await recorder.names(about: request).contains(.dataTaskDidReceiveData))
    }
    #expect(posted == expected)
    let own = try await notifications(eventMonitors: []) { request, _, mayAnswer in
      request.eventMonitor(AlamofireNotifications())
      request.resume()
      mayAnswer.open()
    }
    #expect(own == expected)
  }

  @Test(
    "if AlamofireNotifications is a session's only monitor, requests report only the events that have a notification")
  func cost() {
    let session = Session(startRequestsImmediately: false)
    let request = session.request("http://127.0.0.1:1")
    #expect(session.eventMonitor.monitors.count == 1 && session.eventMonitor.monitors[0] is AlamofireNotifications)
    #expect(request.eventMonitor != nil && request.monitors == nil)
    request.eventMonitor(EventRecorder())
    #expect(request.monitors != nil)
  }

  @Test("a session has one default event monitor, which posts notifications")
  func defaultMonitors() {
    let session: any MonitoredByDefault = Session(eventMonitors: [])
    #expect(session.defaultEventMonitors.count == 1 && session.defaultEventMonitors[0] is AlamofireNotifications)
  }

  @Test("a Notification's request property is nil if the notification wasn't posted by a session")
  func foreign() {
    #expect(Notification(name: Notification.Name("other")).request == nil)
    #expect(Notification(name: Notification.Name("other"), userInfo: ["key": 1]).request == nil)
  }
}

/// Declares the deprecated property `defaultEventMonitors`, so that tests can read it through the protocol without a warning.
private protocol MonitoredByDefault {
  var defaultEventMonitors: [any EventMonitor] { get }
}

extension Session: MonitoredByDefault {}

/// Observes the default notification center, and records the notifications that are posted about one request.
private final class NotificationObserver: Sendable {
  private let log = Mutex(Log())
  private let tokens = Mutex<[Token]>([])

  private struct Log {
    var names: [String] = []
    var misplacedCount = 0
  }

  /// The token with which the observer is removed from the notification center.
  private struct Token: @unchecked Sendable {
    let object: any NSObjectProtocol
  }

  init(_ request: Request, _ names: [Notification.Name: String]) {
    let key = DispatchSpecificKey<Bool>()
    request.underlyingQueue.setSpecific(key: key, value: true)
    for (name, event) in names {
      let object = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        [unowned self, weak request] notification in
        guard let request, notification.request === request else { return }
        let isRight =
          notification.object == nil && DispatchQueue.getSpecific(key: key) == true
          && notification.userInfo?["org.alamofire.notification.key.request"] as? Request === request
        log.withLock { log in
          log.names.append(event)
          if !isRight { log.misplacedCount += 1 }
        }
      }
      let token = Token(object: object)
      tokens.withLock { $0.append(token) }
    }
  }

  /// The names of the notifications that have been posted so far, oldest first.
  var posted: [String] { log.withLock { $0.names } }
  /// The number of notifications that were posted on another queue than the request's, or have other content than the request.
  var misplacedCount: Int { log.withLock { $0.misplacedCount } }

  func stop() {
    for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.object) }
  }
}
