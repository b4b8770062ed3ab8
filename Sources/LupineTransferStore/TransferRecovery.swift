// TransferRecovery: decides what a later process does with a task, from its record and the sizes of its files.

/// The action that a process takes for a task that an earlier process has recorded.
package enum TransferRecovery: Sendable, Equatable {
  /// Wait until the caller resumes the task, which has never been resumed.
  case wait
  /// Start the transfer from the beginning: download the entire resource, or send the entire upload.
  case start
  /// Request the rest of the resource. The body's file has the given number of bytes, and the response's head is recorded.
  case resume(byteCount: UInt64)
  /// Call the delegate with the response, which is complete.
  case deliver
  /// Only notify the delegate of the completion, because the delegate has already received the download's file and moved it.
  case complete
  /// Fail the upload without sending it again, because it was answered, but the response is lost or incomplete.
  case answerLost

  /// Decides what a later process does with a recorded task.
  ///
  /// - Parameters:
  ///   - kind: The kind of the task.
  ///   - progress: The latest progress.
  ///   - hasAnswer: Whether the head of the response is recorded.
  ///   - bodyByteCount: The size of the body's file, or nil if the file doesn't exist.
  package static func decide(
    _ kind: TransferDescription.Kind, _ progress: TransferProgress, hasAnswer: Bool, bodyByteCount: UInt64?
  ) -> TransferRecovery {
    switch (kind, progress.stage) {
    case (_, .created): .wait
    case (.upload, .running): .start
    case (.upload, .answered): .answerLost
    // Without its head, a response would look like a success.
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
      // The delegate has changed the file without moving it, so it can't be delivered again.
      default: .start
      }
    }
  }
}
