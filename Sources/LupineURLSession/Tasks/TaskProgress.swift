// TaskProgress: the Progress of a task, for programs that show or combine the progress of several tasks.

public import Foundation
import Synchronization

extension URLSessionTask: ProgressReporting {
  /// The progress of the task in bytes: those of the request's body and of the response's body.
  ///
  /// The total is indeterminate until the length of both is known. Canceling, pausing or resuming the progress cancels,
  /// suspends or resumes the task. It is updated on the delegate queue.
  public var progress: Progress { makeProgress().progress }

  private func makeProgress() -> TaskProgress {
    makeOptions().state.withLock { state in
      if let progress = state.progress { return progress }
      let progress = TaskProgress(of: self)
      state.progress = progress
      return progress
    }
  }

  /// Updates the task's progress if anybody has asked for it.
  func updateProgress(isComplete: Bool = false) {
    options?.state.withLock { $0.progress }?.update(from: self, isComplete: isComplete)
  }
}

/// The progress that a task has handed out.
final class TaskProgress: Sendable {
  let progress = Progress(totalUnitCount: -1)

  init(of task: URLSessionTask) {
    progress.cancellationHandler = { [weak task] in task?.cancel() }
    progress.pausingHandler = { [weak task] in task?.suspend() }
    progress.resumingHandler = { [weak task] in task?.resume() }
    progress.isPausable = true
  }

  /// Takes the task's counts. A total that is unknown at the end becomes the number of bytes that were transferred.
  func update(from task: URLSessionTask, isComplete: Bool) {
    let done = task.countOfBytesSent + task.countOfBytesReceived
    let (toSend, toReceive) = (task.countOfBytesExpectedToSend, task.countOfBytesExpectedToReceive)
    // A total of 0 would be indeterminate, and Foundation traps when a positive total becomes 0.
    if isComplete {
      progress.totalUnitCount = max(1, done)
      progress.completedUnitCount = max(1, done)
    } else {
      if toSend >= 0, toReceive >= 0, toSend + toReceive > 0 { progress.totalUnitCount = toSend + toReceive }
      progress.completedUnitCount = done
    }
  }
}

extension URLSessionTask {
  /// The number of bytes that the caller expects to send; ``NSURLSessionTransferSizeUnknown`` by default. For the
  /// caller's use; the task compares it with nothing.
  public var countOfBytesClientExpectsToSend: Int64 {
    get { options?.state.withLock { $0.byteCountExpectedToSend } ?? NSURLSessionTransferSizeUnknown }
    set { makeOptions().state.withLock { $0.byteCountExpectedToSend = newValue } }
  }

  /// The number of bytes that the caller expects to receive; ``NSURLSessionTransferSizeUnknown`` by default. For the
  /// caller's use; the task compares it with nothing.
  public var countOfBytesClientExpectsToReceive: Int64 {
    get { options?.state.withLock { $0.byteCountExpectedToReceive } ?? NSURLSessionTransferSizeUnknown }
    set { makeOptions().state.withLock { $0.byteCountExpectedToReceive = newValue } }
  }
}
