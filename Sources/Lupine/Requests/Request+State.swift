// Where a request stands: its state for the caller, and its stage.

import LupineURLSession

extension Request {
  /// Where a request stands.
  public enum State: Sendable {
    /// It was made, and nothing was done yet.
    case initialized
    /// It runs, or will as soon as it is built.
    case resumed
    /// It is stopped until it is resumed.
    case suspended
    /// It was cancelled; it stays so.
    case cancelled
    /// It has completed, and its response handlers have run.
    case finished

    /// The transitions there are. Cancelled and finished requests stay what they are.
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
    /// Nothing was done yet.
    case unbuilt
    /// An attempt to make a task is under way: see `RequestBuild`.
    case building
    case running(URLSessionTask)
    /// The task has ended, or none could be made. The retry decision is pending while retriers make it.
    case completing(pendingRetry: PendingRetry?)
    /// The delay before another attempt passes.
    case waiting
    /// Response handlers run. The pending retry is of a response that could not be serialized.
    case finishing(pendingRetry: PendingRetry?)
    case done
  }

  /// Whether it is `.initialized`.
  public var isInitialized: Bool { state == .initialized }
  /// Whether it is `.resumed`.
  public var isResumed: Bool { state == .resumed }
  /// Whether it is `.suspended`.
  public var isSuspended: Bool { state == .suspended }
  /// Whether it is `.cancelled`.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether it is `.finished`.
  public var isFinished: Bool { state == .finished }
}

extension Request.MutableState {
  /// The request's state for the caller.
  var state: Request.State { isDone && intent != .cancelled ? .finished : intent }

  var isDone: Bool {
    if case .done = stage { true } else { false }
  }

  /// Whether the attempt with this number is building its task.
  func isBuilding(_ attempt: Int) -> Bool {
    if case .building = stage { retryCount == attempt } else { false }
  }

  /// The task, if there is one that hasn't ended.
  var runningTask: URLSessionTask? {
    if case .running(let task) = stage { task } else { nil }
  }

  /// The retry decision that retriers haven't made yet. It can be set while the request completes or finishes.
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

/// A retry decision that retriers are making, and what to do with their result.
final class PendingRetry: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}
