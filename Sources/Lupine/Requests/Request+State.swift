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
    /// The task has ended, or none could be made. The question is the one that retriers haven't answered yet.
    case completing(asking: RetryQuestion?)
    /// The delay before another attempt passes.
    case waiting
    /// Response handlers run. The question is about a response that could not be serialized.
    case finishing(asking: RetryQuestion?)
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

  /// The question that retriers haven't answered yet. It can be set while the request completes or finishes.
  var question: RetryQuestion? {
    get {
      switch stage {
      case .completing(let question), .finishing(let question): question
      case .unbuilt, .building, .running, .waiting, .done: nil
      }
    }
    set {
      switch stage {
      case .completing: stage = .completing(asking: newValue)
      case .finishing: stage = .finishing(asking: newValue)
      case .unbuilt, .building, .running, .waiting, .done: break
      }
    }
  }
}

/// A question to retriers, and how the request goes on from their answer.
final class RetryQuestion: Sendable {
  let proceed: @Sendable (RetryResult) -> Void

  init(proceed: @escaping @Sendable (RetryResult) -> Void) { self.proceed = proceed }
}
