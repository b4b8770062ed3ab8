// URLSessionTask+Progress: a task's Progress, for programs that show or combine the progress of several tasks.

public import Foundation
import Synchronization

extension URLSessionTask: ProgressReporting {
  /// Returns the task's progress. Creates it if necessary.
  func makeProgress() -> TaskProgress {
    changeOptions { options in
      if let progress = options.progress { return progress }
      let progress = TaskProgress()
      control(progress)
      options.progress = progress
      hasProgress.store(true, ordering: .releasing)
      return progress
    }
  }

  /// Makes the task follow `progress`: cancels, suspends or resumes the task when the progress is canceled, paused or resumed.
  func control(_ progress: TaskProgress) {
    progress.progress.cancellationHandler = { [weak self] in self?.cancel() }
    progress.progress.pausingHandler = { [weak self] in self?.suspend() }
    progress.progress.resumingHandler = { [weak self] in self?.resume() }
  }

  /// Updates the task's progress. Has no effect unless a caller has read `progress` before.
  func updateProgress(isComplete: Bool = false) {
    guard hasProgress.load(ordering: .acquiring) else { return }
    option { $0.progress }?.update(
      done: countOfBytesSent + countOfBytesReceived, toSend: countOfBytesExpectedToSend,
      toReceive: countOfBytesExpectedToReceive, isComplete: isComplete)
  }
}
