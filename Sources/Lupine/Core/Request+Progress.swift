// How far a request has come with its bodies, and who is told of it.

public import Foundation
import LupineURLSession
import Synchronization

/// Keeps a `Progress` up to date, on a request's underlying queue; updates that come faster than they are seen are merged.
final class TransferProgress: Sendable {
  // A type of its own: a closure in a tuple would be wrapped once more each time that it is looked at in a Mutex.
  private struct Listener {
    let handler: Request.ProgressHandler
    let queue: DispatchQueue
    var isCalled = false
  }

  let progress = Progress(totalUnitCount: 0)
  private let listener = Mutex<Listener?>(nil)

  /// Lets go of the old one outside the lock, since what goes with it may ask for progress.
  func setHandler(_ handler: @escaping Request.ProgressHandler, on queue: DispatchQueue) {
    _ = listener.withLock { listener in
      let old = listener
      listener = Listener(handler: handler, queue: queue)
      return old
    }
  }

  var currentHandler: (handler: Request.ProgressHandler, queue: DispatchQueue)? {
    listener.withLock { $0 }.map { ($0.handler, $0.queue) }
  }

  /// Takes the counts over and tells the handler, unless nothing has changed.
  func update(_ count: Int64, of total: Int64) {
    // Foundation traps when a total goes from above 0 to 0, so an unknown one is -1.
    let total = total > 0 ? total : -1
    guard progress.completedUnitCount != count || progress.totalUnitCount != total else { return }
    progress.totalUnitCount = total
    progress.completedUnitCount = count
    let called = listener.withLock { listener -> Listener? in
      guard listener?.isCalled == false else { return nil }
      listener?.isCalled = true
      return listener
    }
    guard let called else { return }
    called.queue.async {
      // Before the call, so that what comes behind it is told again.
      self.listener.withLock { $0?.isCalled = false }
      called.handler(self.progress)
    }
  }

  /// Another round begins at nothing; nobody is told.
  func reset() {
    progress.completedUnitCount = 0
    if progress.totalUnitCount > 0 { progress.totalUnitCount = -1 }
  }
}

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
