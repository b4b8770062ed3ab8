// Request+Progress: a request's upload and download progress, and the handlers that receive it.

public import Foundation
import LupineURLSession
import Synchronization

extension Request {
  /// The progress of sending the request body, in bytes. The total is -1 while the length is unknown. If the request succeeds,
  /// the total becomes the number of bytes sent.
  public var uploadProgress: Progress { progress(\.uploadProgress).progress }

  /// The progress of receiving the response body, in bytes. The total is -1 while the length is unknown. If the request succeeds,
  /// the total becomes the number of bytes received.
  public var downloadProgress: Progress { progress(\.downloadProgress).progress }

  /// Calls `closure` on `queue` with the progress of sending the request body. Replaces the closure of an earlier call.
  @preconcurrency
  @discardableResult
  public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    progress(\.uploadProgress).setHandler(closure, on: queue)
    return self
  }

  /// Calls `closure` on `queue` with the progress of receiving the response body. Replaces the closure of an earlier call.
  @preconcurrency
  @discardableResult
  public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    progress(\.downloadProgress).setHandler(closure, on: queue)
    return self
  }

  /// The handler that receives the upload progress, and the queue on which the handler is called. Nil if there is no handler.
  public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
    mutableState.withLock { $0.uploadProgress }?.currentHandler
  }

  /// The handler that receives the download progress, and the queue on which the handler is called. Nil if there is no handler.
  public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
    mutableState.withLock { $0.downloadProgress }?.currentHandler
  }

  // The totals are autoclosures, because reading them parses the response's fields, and most requests have no progress handler.

  func didReceive(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    if has(.progress) { mutableState.withLock { $0.downloadProgress }?.update(byteCount, of: total()) }
  }

  func didSend(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    if has(.progress) { mutableState.withLock { $0.uploadProgress }?.update(byteCount, of: total()) }
  }

  /// Reports the task's final byte counts to the progress handlers. A handler that was set while the task was running may have
  /// missed earlier reports.
  func finishProgress(_ task: URLSessionTask) {
    guard has(.progress) else { return }
    let (sent, received) = (sentBytes(of: task), receivedBytes(of: task))
    if sent.count > 0 { didSend(sent.count, of: sent.total) }
    if received.count > 0 { didReceive(received.count, of: received.total) }
  }

  private func sentBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    // A server may respond before it has received the entire body.
    let isSent = lastMetrics?.transactionMetrics.last?.requestEndDate != nil
    let (count, total) = (task.countOfBytesSent, task.countOfBytesExpectedToSend)
    return (count, isSent ? known(total, of: task, orElse: count) : total)
  }

  private func receivedBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    let (count, total) = (task.countOfBytesReceived, task.countOfBytesExpectedToReceive)
    return (count, known(total, of: task, orElse: count))
  }

  /// Returns the total of a transfer: `total`, or `count` if the total is unknown and the task has ended without an error.
  private func known(_ total: Int64, of task: URLSessionTask, orElse count: Int64) -> Int64 {
    let isComplete = task.state == .completed && task.error == nil && error == nil
    return isComplete && total <= 0 ? count : total
  }

  private func progress(_ path: WritableKeyPath<MutableState, TransferProgress?>) -> TransferProgress {
    if let progress = mutableState.withLock({ $0[keyPath: path] }) { return progress }
    let progress = TransferProgress()
    // Before the counts are read, so that no later update is missed.
    didAdd(.progress)
    // A progress object created late starts with the current counts. Bytes that arrive in between are
    // added by the next update or at the task's end.
    if let task = lastTask {
      let bytes = path == \.uploadProgress ? sentBytes(of: task) : receivedBytes(of: task)
      if bytes.count > 0 { progress.update(bytes.count, of: bytes.total) }
    }
    return mutableState.withLock { state in
      if let existing = state[keyPath: path] { return existing }
      state[keyPath: path] = progress
      state.endIsQueued = true
      return progress
    }
  }
}
