// URLSessionTask+Progress: a task's Progress, for programs that show or combine the progress of several tasks.

public import Foundation
import Synchronization

extension URLSessionTask: ProgressReporting {
  /// Returns the task's progress. Creates it if necessary.
  func makeProgress() -> Progress {
    changeOptions { options in
      if let progress = options.progress { return progress }
      let progress = Progress(totalUnitCount: -1)
      progress.isPausable = true
      control(progress)
      options.progress = progress
      hasProgress.store(true, ordering: .releasing)
      return progress
    }
  }

  /// Makes the task follow `progress`: cancels, suspends or resumes the task when the progress is canceled, paused or resumed.
  func control(_ progress: Progress) {
    progress.cancellationHandler = { [weak self] in self?.cancel() }
    progress.pausingHandler = { [weak self] in self?.suspend() }
    progress.resumingHandler = { [weak self] in self?.resume() }
  }

  /// Updates the task's progress. Has no effect unless a caller has read `progress` before.
  func updateProgress(isComplete: Bool = false) {
    guard hasProgress.load(ordering: .acquiring), let progress = option({ $0.progress }) else { return }
    let done = countOfBytesSent + countOfBytesReceived
    let (toSend, toReceive) = (countOfBytesExpectedToSend, countOfBytesExpectedToReceive)
    // A total of 0 would make the progress indeterminate, and Foundation traps when a positive total becomes 0.
    if isComplete {
      progress.totalUnitCount = max(1, done)
    } else if toSend >= 0, toReceive >= 0, toSend + toReceive > 0 {
      progress.totalUnitCount = toSend + toReceive
    }
    progress.completedUnitCount = isComplete ? max(1, done) : done
  }
}
