// Request+State: the caller's state of a request, and the stage of its life cycle.

import LupineURLSession

extension Request {
  /// The state of a request, as the caller sees it.
  public enum State: Sendable {
    /// The request was created, but not resumed.
    case initialized
    /// The request is running, or will run as soon as its task has been created.
    case resumed
    /// The request is suspended until it is resumed.
    case suspended
    /// The request was cancelled. This state is final.
    case cancelled
    /// The request has completed, and its response handlers are being called or have been called. This state is final, unless
    /// another response handler is added.
    case finished

    /// Returns whether a request may change from this state to `state`. A cancelled or finished request can't change its state.
    func canTransition(to state: State) -> Bool {
      switch (self, state) {
      case (.initialized, _): state != .initialized
      case (_, .initialized), (.cancelled, _), (.finished, _): false
      case (.resumed, .cancelled), (.suspended, .cancelled), (.resumed, .suspended), (.suspended, .resumed): true
      case (.resumed, .resumed), (.suspended, .suspended): false
      case (_, .finished): true
      }
    }
  }

  /// The stage of the request's life cycle. It is independent of the `State` that the caller sets.
  enum Stage {
    /// No attempt to send the request has started.
    case unbuilt
    /// A `RequestBuild` is creating the task of an attempt.
    case building
    case running(URLSessionTask)
    /// The task has ended, or couldn't be created. If the request is waiting for its retriers' decision, `pendingRetry` will
    /// receive the decision. Otherwise `pendingRetry` is nil.
    case completing(pendingRetry: PendingRetry?)
    /// The request waits for the retry delay to pass before its next attempt.
    case waiting
    /// The response is being serialized for the response handlers. If serialization failed and the request is waiting for its
    /// retriers' decision, `pendingRetry` will receive the decision. Otherwise `pendingRetry` is nil.
    case finishing(pendingRetry: PendingRetry?)
    case done
  }

  /// Whether the request's state is `.initialized`.
  public var isInitialized: Bool { state == .initialized }
  /// Whether the request's state is `.resumed`.
  public var isResumed: Bool { state == .resumed }
  /// Whether the request's state is `.suspended`.
  public var isSuspended: Bool { state == .suspended }
  /// Whether the request's state is `.cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether the request's state is `.finished`.
  public var isFinished: Bool { state == .finished }
}

extension Request.MutableState {
  /// The request's state as its public property ``Request/state`` reports it.
  var state: Request.State { isDone && intent != .cancelled ? .finished : intent }

  var isDone: Bool {
    if case .done = stage { true } else { false }
  }

  /// Returns whether the attempt with the number `attempt` is the current one and is creating its task.
  func isBuilding(_ attempt: Int) -> Bool {
    if case .building = stage { retryCount == attempt } else { false }
  }

  /// The request's running task, or nil if no task is running.
  var runningTask: URLSessionTask? {
    if case .running(let task) = stage { task } else { nil }
  }

  /// The object that will receive the retriers' decision for which the request waits, or nil. It can be set only in the stages
  /// `completing` and `finishing`.
  var pendingRetry: PendingRetry? {
    get {
      switch stage {
      case .completing(let pendingRetry), .finishing(let pendingRetry): pendingRetry
      case .unbuilt, .building, .running, .waiting, .done: nil
      }
    }
    set {
      switch stage {
      case .completing: stage = .completing(pendingRetry: newValue)
      case .finishing: stage = .finishing(pendingRetry: newValue)
      case .unbuilt, .building, .running, .waiting, .done: break
      }
    }
  }

  /// The monitor to notify of events for which ``AlamofireNotifications`` posts no notification. Nil if ``AlamofireNotifications``
  /// is the only type of monitor.
  var listeningMonitors: CompositeEventMonitor? { eventMonitor.flatMap { $0.hasListeners ? $0 : nil } }
}

/// A failed request that waits until its retriers have decided. `proceed` continues the request with their decision.
final class PendingRetry: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}
