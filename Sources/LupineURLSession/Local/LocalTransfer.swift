// The transfer of a file: or data: URL: the content is read piece by piece, and no engine takes part.

import Foundation
import Synchronization

/// Reads a local resource for a task and reports it to the observer as ``Transfer`` reports a response.
///
/// One step is under way at a time. A piece is read on the session's file queue, where a slow disk delays files alone, and
/// handed over on the delivery queue; then the next one is read, if the window has room and the task isn't suspended.
/// A cancellation takes effect between two steps. No time limits apply.
final class LocalTransfer: TaskTransfer {
  private enum Phase {
    case unopened
    /// The observer decides whether it wants the content.
    case deciding
    case reading
    /// No more content will be handed over.
    case ended(URLError?)
  }

  private enum Step {
    case open
    case read(countMax: Int)
    case complete
  }

  private struct State {
    var observer: (any TransferObserver)?
    var phase = Phase.unopened
    /// Whether a step is under way.
    var isBusy = false
    var isPaused = false
    var isCancelled = false
    /// How many bytes the window has room for; nil without a window.
    var credit: Int?
    var response: URLResponse?
    var receivedByteCount: Int64 = 0
    var startDate: Date?
    var responseDate: Date?
    var endDate: Date?
  }

  let currentRequest: URLRequest
  private let files: SerialQueue
  private let delivery: SerialQueue
  private let windowBytes: Int?
  /// Used on the file queue only, except at its end.
  private let content = Mutex<LocalContent?>(nil)
  private let state: Mutex<State>

  /// Takes a request whose URL ``LocalContent`` serves; nothing is opened before `send`.
  ///
  /// - Parameters:
  ///   - files: where content is opened and read.
  ///   - delivery: where the observer is called.
  ///   - windowBytes: how many bytes may be handed over before some were granted again; without a limit if nil.
  init(
    _ request: URLRequest, files: SerialQueue, delivery: SerialQueue, windowBytes: Int?,
    observer: any TransferObserver
  ) {
    currentRequest = request
    self.files = files
    self.delivery = delivery
    self.windowBytes = windowBytes
    state = Mutex(State(observer: observer, credit: windowBytes))
  }

  // MARK: What the task does

  func send() {
    state.withLock { $0.startDate = Date() }
    advance()
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    advance()
  }

  func setPaused(_ isPaused: Bool) {
    state.withLock { $0.isPaused = isPaused }
    advance()
  }

  func grant(_ byteCount: Int) {
    state.withLock { $0.credit? += byteCount }
    advance()
  }

  var response: URLResponse? { state.withLock { $0.response } }
  var httpResponse: HTTPURLResponse? { nil }
  var receivedByteCount: Int64 { state.withLock { $0.receivedByteCount } }
  var sentByteCount: Int64 { 0 }
  var bodyByteCount: UInt64? { 0 }

  // MARK: Steps

  /// Takes the next step, unless one is under way, or has to wait.
  private func advance() {
    let step = state.withLock { state -> Step? in
      guard !state.isBusy, state.startDate != nil, let step = nextStep(state) else { return nil }
      state.isBusy = true
      return step
    }
    switch step {
    case .open: files.perform { self.open() }
    case .read(let countMax): files.perform { self.read(countMax) }
    case .complete: delivery.perform { self.complete() }
    case nil: break
    }
  }

  private func nextStep(_ state: State) -> Step? {
    if state.isCancelled { return .complete }
    switch state.phase {
    case .ended: return .complete
    case .deciding: return nil
    case .unopened: return state.isPaused ? nil : .open
    case .reading:
      guard !state.isPaused else { return nil }
      guard let credit = state.credit, let windowBytes else { return .read(countMax: .max) }
      // Half a window at least: a piece for each that was granted would become ever smaller ones.
      return credit > 0 && credit >= windowBytes / 2 ? .read(countMax: credit) : nil
    }
  }

  /// Ends a step and continues with the next one. Applies `change` unless the transfer was cancelled in the meantime.
  private func endStep(_ change: (inout State) -> Void = { _ in }) {
    state.withLock { state in
      if !state.isCancelled { change(&state) }
      state.isBusy = false
    }
    advance()
  }

  // MARK: On the file queue

  private func open() {
    do throws(URLError) {
      let response = try content.withLock { content throws(URLError) in
        let opened = try LocalContent(of: currentRequest)
        let response = opened.response
        content = consume opened
        return response
      }
      delivery.perform { self.present(response) }
    } catch {
      endStep { $0.phase = .ended(error) }
    }
  }

  private func read(_ countMax: Int) {
    do throws(URLError) {
      let (piece, isLast) = try content.withLock { content throws(URLError) in
        try content?.read(countMax) ?? (Data(), true)
      }
      delivery.perform { self.deliver(piece, isLast: isLast) }
    } catch {
      endStep { $0.phase = .ended(error) }
    }
  }

  // MARK: On the delivery queue

  private func present(_ response: URLResponse) {
    let observer = state.withLock { state in
      (state.response, state.responseDate) = (response, Date())
      return state.isCancelled ? nil : state.observer
    }
    guard let observer, observer.decidesOnResponse else { return endStep { $0.phase = .reading } }
    // The step ends before the answer, so that a cancellation needn't wait for it.
    endStep { $0.phase = .deciding }
    observer.transfer(didReceive: response) { isWanted in
      self.state.withLock { state in
        // Only the first answer counts.
        guard case .deciding = state.phase else { return }
        state.phase = isWanted ? .reading : .ended(URLError(.cancelled))
      }
      self.advance()
    }
  }

  private func deliver(_ piece: Data, isLast: Bool) {
    let observer = state.withLock { state -> (any TransferObserver)? in
      guard !state.isCancelled, !piece.isEmpty else { return nil }
      state.credit? -= piece.count
      state.receivedByteCount += Int64(piece.count)
      return state.observer
    }
    observer?.transfer(didReceive: piece)
    endStep { if isLast { $0.phase = .ended(nil) } }
  }

  private func complete() {
    content.withLock { $0 = nil }
    let (observer, error) = state.withLock { state -> ((any TransferObserver)?, URLError?) in
      state.endDate = Date()
      let error: URLError? = if case .ended(let error) = state.phase { error } else { nil }
      return (state.observer.take(), error ?? (state.isCancelled ? URLError(.cancelled) : nil))
    }
    observer?.transferDidComplete(error)
  }

  // MARK: Metrics

  /// One transaction without a connection, or none if nothing was begun.
  var measurements: URLSessionTaskMetrics.Values {
    let state = state.withLock { $0 }
    let start = state.startDate ?? Date()
    let transaction = URLSessionTaskTransactionMetrics(
      request: currentRequest, response: state.response, fetchStartDate: state.startDate,
      responseStartDate: state.responseDate, responseEndDate: state.responseDate == nil ? nil : state.endDate,
      countOfResponseBodyBytesReceived: state.receivedByteCount,
      countOfResponseBodyBytesAfterDecoding: state.receivedByteCount)
    return URLSessionTaskMetrics.Values(
      transactionMetrics: state.startDate == nil ? [] : [transaction],
      taskInterval: DateInterval(start: start, end: max(start, state.endDate ?? start)), redirectCount: 0)
  }
}
