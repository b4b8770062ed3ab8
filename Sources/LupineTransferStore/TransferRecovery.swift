// TransferRecovery: decides what a later process does with a task, from its record and the sizes of its files.

/// The action that a process must take for a background task that an earlier process has stored.
package enum TransferRecovery: Sendable, Equatable {
  /// Wait until the caller resumes the task for the first time.
  case wait
  /// Start the transfer from the beginning: download the entire resource, or send the entire upload.
  case start
  /// Request the rest of the resource. The file with the body has `byteCount` bytes, and the head of the response is stored.
  case resume(byteCount: UInt64)
  /// Call the delegate with the stored response, which is complete.
  case deliver
  /// Notify the delegate only that the task has completed, because the delegate has already received and moved the downloaded file.
  case complete
  /// Fail the upload without sending it again. The server has responded, but the response is lost or incomplete.
  case answerLost

  /// Returns what a later process must do with a stored background task.
  ///
  /// - Parameters:
  ///   - kind: The kind of the task.
  ///   - progress: The latest progress.
  ///   - hasAnswer: Whether the head of the response is stored.
  ///   - bodyByteCount: The size of the file with the body, or nil if the file doesn't exist.
  package static func decide(
    _ kind: TransferDescription.Kind, _ progress: TransferProgress, hasAnswer: Bool, bodyByteCount: UInt64?
  ) -> TransferRecovery {
    switch (kind, progress.stage) {
    case (_, .created): .wait
    case (.upload, .running): .start
    case (.upload, .answered): .answerLost
    // Without its head, the response would look like a success.
    case (.upload, .finished), (.upload, .delivering):
      hasAnswer && bodyByteCount ?? 0 == progress.byteCount ? .deliver : .answerLost
    // Bytes without the head of their response can't be continued, because the representation to which they belong is unknown.
    case (.download, .running), (.download, .answered):
      if hasAnswer, let count = bodyByteCount, count > 0 { .resume(byteCount: count) } else { .start }
    case (.download, .finished): bodyByteCount == progress.byteCount ? .deliver : .start
    case (.download, .delivering):
      switch bodyByteCount {
      case progress.byteCount: .deliver
      case nil: .complete
      // The delegate has changed the downloaded file without moving it, so the file can't be delivered again.
      default: .start
      }
    }
  }
}
