// URLSessionTask+Progress: a task's Progress, for programs that show or combine the progress of several tasks, and the byte
// counts that a caller expects.

public import Foundation
import Synchronization

extension URLSessionTask: ProgressReporting {
  /// The progress of the task in bytes, which counts the request's body and the response's body.
  ///
  /// The total is indeterminate until both lengths are known. Cancelling, pausing or resuming the progress cancels, suspends or
  /// resumes the task. The progress is updated on the delegate queue.
  public var progress: Progress { makeProgress().progress }

  private func makeProgress() -> TaskProgress {
    makeOptions().state.withLock { state in
      if let progress = state.progress { return progress }
      let progress = TaskProgress()
      control(progress)
      state.progress = progress
      return progress
    }
  }

  /// Lets the progress cancel, suspend and resume this task.
  func control(_ progress: TaskProgress) {
    progress.progress.cancellationHandler = { [weak self] in self?.cancel() }
    progress.progress.pausingHandler = { [weak self] in self?.suspend() }
    progress.progress.resumingHandler = { [weak self] in self?.resume() }
  }

  /// Updates the task's progress if a caller has read `progress`.
  func updateProgress(isComplete: Bool = false) {
    options?.state.withLock { $0.progress }?.update(
      done: countOfBytesSent + countOfBytesReceived, toSend: countOfBytesExpectedToSend,
      toReceive: countOfBytesExpectedToReceive, isComplete: isComplete)
  }
}

extension URLSessionTask {
  /// The number of bytes that the caller expects to send, for the caller's own use. ``NSURLSessionTransferSizeUnknown`` by
  /// default. The task doesn't use it.
  public var countOfBytesClientExpectsToSend: Int64 {
    get { options?.state.withLock { $0.byteCountExpectedToSend } ?? NSURLSessionTransferSizeUnknown }
    set { makeOptions().state.withLock { $0.byteCountExpectedToSend = newValue } }
  }

  /// The number of bytes that the caller expects to receive, for the caller's own use. ``NSURLSessionTransferSizeUnknown`` by
  /// default. The task doesn't use it.
  public var countOfBytesClientExpectsToReceive: Int64 {
    get { options?.state.withLock { $0.byteCountExpectedToReceive } ?? NSURLSessionTransferSizeUnknown }
    set { makeOptions().state.withLock { $0.byteCountExpectedToReceive = newValue } }
  }
}
