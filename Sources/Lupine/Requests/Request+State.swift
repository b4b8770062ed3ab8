// The state of a request: the caller's state, and the stage of its life cycle.

import LupineURLSession

extension Request {
  /// The state of a request.
  public enum State: Sendable {
    /// The request was created, but not resumed.
    case initialized
    /// The request is running, or will as soon as it is built.
    case resumed
    /// The request is suspended until it is resumed.
    case suspended
    /// The request was cancelled. This state is final.
    case cancelled
    /// The request has completed, and its response handlers have run. This state is final, unless another response handler is
    /// added.
    case finished

    /// Returns whether the transition is allowed. Cancelled and finished requests keep their states.
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

  /// The request's progress through its life cycle, independent of what the caller wants.
  enum Stage {
    /// Nothing has been done yet.
    case unbuilt
    /// An attempt to create a task is in progress; see `RequestBuild`.
    case building
    case running(URLSessionTask)
    /// The task has ended, or couldn't be created. `pendingRetry` is the decision that the retriers haven't made.
    case completing(pendingRetry: PendingRetry?)
    /// Waiting for the delay before another attempt.
    case waiting
    /// The response handlers are running. `pendingRetry` is the decision about a response that can't be
    /// serialized.
    case finishing(pendingRetry: PendingRetry?)
    case done
  }

  /// Whether the state is `.initialized`.
  public var isInitialized: Bool { state == .initialized }
  /// Whether the state is `.resumed`.
  public var isResumed: Bool { state == .resumed }
  /// Whether the state is `.suspended`.
  public var isSuspended: Bool { state == .suspended }
  /// Whether the state is `.cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether the state is `.finished`.
  public var isFinished: Bool { state == .finished }
}

extension Request.MutableState {
  /// The request's state for the caller.
  var state: Request.State { isDone && intent != .cancelled ? .finished : intent }

  var isDone: Bool {
    if case .done = stage { true } else { false }
  }

  /// Returns whether the attempt with this number is building its task.
  func isBuilding(_ attempt: Int) -> Bool {
    if case .building = stage { retryCount == attempt } else { false }
  }

  /// The task, if it is running.
  var runningTask: URLSessionTask? {
    if case .running(let task) = stage { task } else { nil }
  }

  /// The decision that the retriers haven't made. It can be set only while the request is completing or finishing.
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
}

/// A decision that the retriers haven't made, with the continuation that receives it.
final class PendingRetry: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}
