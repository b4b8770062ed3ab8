// How far a request has come with its bodies, and who is told of it.

public import Foundation
import LupineURLSession
import Synchronization

extension Request {
  /// How much of the request's body was sent. Its total is -1 while the length isn't known; if the request ends well, it is
  /// then the number of bytes that were sent.
  public var uploadProgress: Progress { progress(\.uploadProgress).progress }

  /// How much of the response's body has come. Its total is -1 while the length isn't known; if the request ends well, it
  /// is then the number of bytes that were received.
  public var downloadProgress: Progress { progress(\.downloadProgress).progress }

  /// Calls `closure` on `queue` whenever a part of the request's body was sent; one that was set before is replaced.
  @preconcurrency
  @discardableResult
  public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    progress(\.uploadProgress).setHandler(closure, on: queue)
    return self
  }

  /// Calls `closure` on `queue` whenever a part of the body has come; a closure that was set before is replaced.
  @preconcurrency
  @discardableResult
  public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    progress(\.downloadProgress).setHandler(closure, on: queue)
    return self
  }

  /// What is told of the request's body, and on which queue.
  public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
    mutableState.withLock { $0.uploadProgress }?.currentHandler
  }

  /// What is told of the response's body, and on which queue.
  public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
    mutableState.withLock { $0.downloadProgress }?.currentHandler
  }

  // The totals are asked for only if somebody wants the progress: a response's fields are parsed when they are read.

  func didReceive(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    mutableState.withLock { $0.downloadProgress }?.update(byteCount, of: total())
  }

  func didSend(_ byteCount: Int64, of total: @autoclosure () -> Int64) {
    mutableState.withLock { $0.uploadProgress }?.update(byteCount, of: total())
  }

  /// The last word, for those who asked while the task was running.
  func finishProgress(_ task: URLSessionTask) {
    guard mutableState.withLock({ $0.uploadProgress != nil || $0.downloadProgress != nil }) else { return }
    let (sent, received) = (sentBytes(of: task), receivedBytes(of: task))
    if sent.count > 0 { didSend(sent.count, of: sent.total) }
    if received.count > 0 { didReceive(received.count, of: received.total) }
  }

  private func sentBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    // A server may respond before it has received all of the body.
    let isSent = lastMetrics?.transactionMetrics.last?.requestEndDate != nil
    let (count, total) = (task.countOfBytesSent, task.countOfBytesExpectedToSend)
    return (count, isSent ? known(total, of: task, orElse: count) : total)
  }

  private func receivedBytes(of task: URLSessionTask) -> (count: Int64, total: Int64) {
    let (count, total) = (task.countOfBytesReceived, task.countOfBytesExpectedToReceive)
    return (count, known(total, of: task, orElse: count))
  }

  /// Returns `total`, or `count` if the total was unknown and the task has ended without an error.
  private func known(_ total: Int64, of task: URLSessionTask, orElse count: Int64) -> Int64 {
    let isComplete = task.state == .completed && task.error == nil && error == nil
    return isComplete && total <= 0 ? count : total
  }

  private func progress(_ path: WritableKeyPath<MutableState, TransferProgress?>) -> TransferProgress {
    if let progress = mutableState.withLock({ $0[keyPath: path] }) { return progress }
    let progress = TransferProgress()
    // Whoever asks late sees how far it is. What comes meanwhile is counted by the next update, or at the task's end.
    if let task = lastTask {
      let bytes = path == \.uploadProgress ? sentBytes(of: task) : receivedBytes(of: task)
      if bytes.count > 0 { progress.update(bytes.count, of: bytes.total) }
    }
    return mutableState.withLock { state in
      if let existing = state[keyPath: path] { return existing }
      state[keyPath: path] = progress
      state.endsInLine = true
      return progress
    }
  }
}
