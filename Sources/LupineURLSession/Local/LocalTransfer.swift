// LocalTransfer: reads a file: or data: URL piece by piece for a task, without the engine.

import Foundation
import Synchronization

/// Reads the content of a file: or data: URL for a task. It calls its observer in the same way as a ``Transfer``, which sends an
/// HTTP request.
///
/// The transfer performs one step at a time. It reads a piece of the content on the session's file queue, where a slow disk delays
/// only files, and delivers the piece on the delivery queue. Then it reads the next piece, if the receive window permits and the
/// task isn't suspended. A cancellation takes effect between two steps. There are no time limits.
final class LocalTransfer: TaskTransfer {
  private enum Phase {
    case unopened
    case reading
    /// The transfer delivers no more content. It has delivered the entire content (nil), has failed with this error, or was
    /// canceled.
    case ended(URLError?)
  }

  private enum Step {
    case open
    case read(countMax: Int)
    case end
  }

  private struct State: ~Copyable {
    var observer: (any TransferObserver)?
    var phase = Phase.unopened
    /// The progress of the current step: opening the content, reading and delivering a piece, or ending. After the first, the observer
    /// is asked whether it accepts the content.
    var turn = DeliveryTurn.free
    var demand = TransferDemand()
    /// The number of bytes that the transfer may deliver before the receive window is extended. Nil if the transfer has no receive
    /// window: then it reads each piece when the observer has returned from the previous one.
    var windowRemaining: Int?
    var delivered = DeliveredResponse()
  }

  let currentRequest: URLRequest
  private let files: SerialQueue
  private let delivery: SerialQueue
  private let windowBytes: Int?
  /// The opened content, or nil. It is read on the file queue and released on the delivery queue.
  private let content = Mutex<LocalContent?>(nil)
  private let state: Mutex<State>

  /// Creates a transfer for a request whose URL ``LocalContent`` supports. The URL isn't opened until `send` is called.
  ///
  /// - Parameters:
  ///   - request: The request with the file: or data: URL.
  ///   - files: The queue on which the content is opened and read.
  ///   - delivery: The queue on which the observer is called.
  ///   - windowBytes: The receive window: the maximum number of bytes to deliver before `extendWindow(by:)` permits more, or nil
  ///     for no limit.
  ///   - observer: The object that receives the content, usually the session task.
  init(
    _ request: URLRequest, files: SerialQueue, delivery: SerialQueue, windowBytes: Int?,
    observer: any TransferObserver
  ) {
    currentRequest = request
    self.files = files
    self.delivery = delivery
    self.windowBytes = windowBytes
    state = Mutex(State(observer: observer, windowRemaining: windowBytes))
  }

  // MARK: Events from the task

  func send() {
    state.withLock { $0.delivered.start() }
    advance()
  }

  func cancel() {
    state.withLock { $0.demand.cancel() }
    advance()
  }

  func setSuspended(_ isSuspended: Bool, change: Int) {
    if state.withLock({ $0.demand.setSuspended(isSuspended, change: change) }) { advance() }
  }

  func setStreamingObserver(_ observer: any TransferObserver) {
    // The observer is released outside the lock.
    withExtendedLifetime(state.withLock { exchange(&$0.observer, with: observer) }) {}
  }

  func extendWindow(by byteCount: Int) {
    state.withLock { $0.windowRemaining? += byteCount }
    advance()
  }

  var response: URLResponse? { state.withLock { $0.delivered.response } }
  var receivedByteCount: Int64 { state.withLock { $0.delivered.receivedByteCount } }
  var sentByteCount: Int64 { 0 }
  var bodyByteCount: UInt64? { 0 }

  // MARK: Steps

  /// Performs the next step. Does nothing while another step is in progress, while the task is suspended, while the observer is
  /// deciding whether to accept the content, and while the receive window is exhausted.
  private func advance() {
    let step = state.withLock { state -> Step? in
      guard !state.turn.isStepping, state.delivered.hasStarted, let step = nextStep(state) else { return nil }
      state.turn.begin()
      return step
    }
    switch step {
    case .open: files.perform { self.open() }
    case .read(let countMax): files.perform { self.read(countMax) }
    case .end: delivery.perform { self.end() }
    case nil: break
    }
  }

  private func nextStep(_ state: borrowing State) -> Step? {
    if state.demand.isCanceled { return .end }
    if state.turn.isAsked { return nil }
    switch state.phase {
    case .ended: return .end
    case .unopened: return state.demand.isSuspended ? nil : .open
    case .reading:
      guard !state.demand.isSuspended else { return nil }
      guard let windowRemaining = state.windowRemaining, let windowBytes else { return .read(countMax: .max) }
      // Waits until half of the receive window is free. If one read followed each extension, the pieces would become smaller and
      // smaller.
      return windowRemaining > 0 && windowRemaining >= windowBytes / 2 ? .read(countMax: windowRemaining) : nil
    }
  }

  /// Ends the current step, and performs the next one. Applies `change` to the state unless the transfer was canceled during the
  /// step.
  private func endStep(_ change: (inout State) -> Void = { _ in }) {
    state.withLock { state in
      if !state.demand.isCanceled { change(&state) }
      state.turn.end()
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
      state.delivered.receive(response)
      return state.demand.isCanceled ? nil : state.observer
    }
    guard let observer, observer.decidesOnResponse else { return endStep { $0.phase = .reading } }
    // The step ends before the observer decides, so that a cancellation doesn't have to wait for the decision.
    endStep { state in
      state.phase = .reading
      state.turn.ask()
    }
    observer.transfer(didReceive: response) { isWanted in
      self.state.withLock { state in
        if state.turn.answered(), !isWanted { state.phase = .ended(URLError(.cancelled)) }
      }
      self.advance()
    }
  }

  private func deliver(_ piece: Data, isLast: Bool) {
    let observer = state.withLock { state -> (any TransferObserver)? in
      guard !state.demand.isCanceled, !piece.isEmpty else { return nil }
      state.windowRemaining? -= piece.count
      state.delivered.receivedByteCount += Int64(piece.count)
      return state.observer
    }
    observer?.transfer(didReceive: piece)
    endStep { if isLast { $0.phase = .ended(nil) } }
  }

  private func end() {
    content.withLock { $0 = nil }
    let (observer, error) = state.withLock { state -> ((any TransferObserver)?, URLError?) in
      state.delivered.end()
      let error: URLError? = if case .ended(let error) = state.phase { error } else { nil }
      return (state.observer.take(), error ?? (state.demand.isCanceled ? URLError(.cancelled) : nil))
    }
    observer?.transferDidEnd(error)
  }

  // MARK: Metrics

  var measurements: URLSessionTaskMetrics.Values { state.withLock { $0.delivered }.measurements(of: currentRequest) }
}
