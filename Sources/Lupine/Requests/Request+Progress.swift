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
