// SimulatedSink: the caller's side of one request. It receives the response and checks it on arrival.

import Synchronization

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

/// The state that all callers of one simulated run share: the shard's inbox, and whether the engine has been released.
final class SimulatedCallers: Sendable {
  let inbox: Inbox
  private let released = Atomic<Bool>(false)
  private let calls = Atomic<Int>(0)

  init() {
    // The closure captures the flag instead of self, because self would form a retain cycle with the inbox.
    let wake = WakeFlag()
    inbox = Inbox { wake.raise() }
    self.wake = wake
  }

  private let wake: WakeFlag

  private final class WakeFlag: Sendable {
    private let isRaised = Atomic<Bool>(false)
    func raise() { isRaised.store(true, ordering: .relaxed) }
    func take() -> Bool { isRaised.exchange(false, ordering: .relaxed) }
  }

  /// Returns whether a caller has woken the loop since the previous call.
  func takeWake() -> Bool { wake.take() }

  /// Whether the engine has been released. After that, callers can't submit requests.
  var isReleased: Bool { released.load(ordering: .relaxed) }
  func release() { released.store(true, ordering: .relaxed) }

  /// The number of callbacks that the sinks of all requests have received.
  var callCount: Int { calls.load(ordering: .relaxed) }
  func countCall() { calls.add(1, ordering: .relaxed) }
}

/// The caller's side of one simulated request: a sink that records the response, and checks it as it arrives.
final class SimulatedSink: ResponseSink {
  struct Record: Sendable {
    var isSubmitted = false
    var windowBytes: Int
    var receivedCount = 0
    /// Whether the request is paused: the engine has processed a pause, and the caller hasn't resumed the request since.
    var isPaused = false
    /// The number of earlier arrivals of the request at a server, according to the response's head. Nil until the head arrives.
    var attempt: Int?
    var status = 0
    var result: Result<Fields, EngineError>?
    var metrics: ExchangeMetrics?
    var violations: [String] = []
  }

  let plan: PlannedRequest
  let id: ExchangeID
  private let callers: SimulatedCallers
  private let request: EngineRequest
  private let record: Mutex<Record>
  /// The sinks whose requests are submitted when this request ends.
  private let followers = Mutex<[SimulatedSink]>([])

  init(_ plan: PlannedRequest, _ request: EngineRequest, id: ExchangeID, _ callers: SimulatedCallers) {
    self.plan = plan
    self.request = request
    self.id = id
    self.callers = callers
    record = Mutex(Record(windowBytes: plan.windowBytes))
  }

  var present: Record { record.withLock { $0 } }
  var isFinished: Bool { record.withLock { $0.result != nil } }
  var firstViolation: String? { record.withLock { $0.violations.first } }
  var isSubmitted: Bool { record.withLock { $0.isSubmitted } }

  func follow(_ sink: SimulatedSink) { sink.followers.withLock { $0.append(self) } }

  func submit() {
    guard !callers.isReleased else { return }
    record.withLock { $0.isSubmitted = true }
    callers.inbox.send(.submit(Submission(id, request, to: self, windowBytes: plan.windowBytes)))
  }

  func extendWindow(by count: Int) {
    record.withLock { record in
      let (sum, isOverflow) = record.windowBytes.addingReportingOverflow(count)
      record.windowBytes = isOverflow ? .max : sum
    }
    callers.inbox.send(.extendWindow(id, count))
  }

  func setPaused(_ isPaused: Bool) {
    if !isPaused { record.withLock { $0.isPaused = false } }
    callers.inbox.send(.setPaused(id, isPaused))
  }

  /// Records that the engine has paused the request.
  func notePaused() { record.withLock { $0.isPaused = true } }

  // MARK: The response

  private func call(_ name: String, _ body: (inout Record) -> Void) {
    callers.countCall()
    record.withLock { record in
      if record.result != nil { record.violations.append("request \(plan.number): \(name) after the end") }
      body(&record)
    }
  }

  func receive(informational head: ResponseHead) {
    call("an interim response") { record in
      if record.attempt != nil {
        record.violations.append("request \(plan.number): an interim response after the head")
      }
    }
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    call("a head") { record in
      if record.attempt != nil { record.violations.append("request \(plan.number): a second head") }
      record.attempt = head.fields.first("Attempt").flatMap { Int($0) } ?? -1
      record.status = head.status
      if head.fields.first("Request") != "\(plan.number)" {
        record.violations.append(
          "request \(plan.number): received the response to request \(head.fields.first("Request") ?? "none")")
      }
    }
    return plan.disposition
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let count = bytes.count
    callers.countCall()
    var violations: [String] = []
    let before = present
    let rule = "request \(plan.number), at byte \(before.receivedCount) of its body:"
    if before.result != nil { violations.append("\(rule) bytes after the end") }
    if before.isPaused { violations.append("\(rule) bytes although it is paused") }
    if count == 0 { violations.append("\(rule) an empty piece") }
    if before.receivedCount + count > before.windowBytes {
      violations.append("\(rule) \(count) bytes exceed the total window of \(before.windowBytes)")
    }
    if !SimulatedBytes.isResponse(bytes, plan.number, before.attempt ?? -1, at: before.receivedCount) {
      violations.append("\(rule) wrong bytes")
    }
    record.withLock { record in
      record.receivedCount += count
      record.violations += violations
    }
    if plan.extendsWindowAtOnce, plan.windowBytes != .max { extendWindow(by: count) }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    call("a second end") { record in
      record.result = result
      record.metrics = metrics
    }
    for sink in followers.withLock({ $0 }) { sink.submit() }
  }
}
