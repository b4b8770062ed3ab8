// DownloadCollector: the task delegate that calls a completion handler with a downloaded file.

import Foundation
import Synchronization

/// The delegate of a download task with a completion handler. It keeps the downloaded file until the task has completed, and then
/// passes the file to the handler on the delegate queue. All other events go to the task's own delegate or, if there is none, to
/// the session's.
final class DownloadCollector: NSObject, URLSessionDownloadDelegate, Sendable {
  typealias Handler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

  private struct State {
    var file: Result<URL, any Error>?
    var handler: Handler?
  }

  /// Whether the downloaded file remains after the completion handler has returned, so that the caller must remove it. If false,
  /// the file is removed when the handler returns.
  private let keepsFile: Bool
  private let state: Mutex<State>

  init(keepsFile: Bool, _ handler: @escaping Handler) {
    self.keepsFile = keepsFile
    state = Mutex(State(handler: handler))
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    // Moves the file, because the task removes it when this method returns. The handler is called later, when the task has
    // completed.
    let kept = location.deletingLastPathComponent().appending(path: "lupine-\(UUID().uuidString).download")
    let result = Result { () throws -> URL in
      try FileManager.default.moveItem(at: location, to: kept)
      return kept
    }
    state.withLock { $0.file = result }
  }

  // Progress isn't passed on: as in Foundation, the delegates of a task with a completion handler get none.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (handler, result) = state.withLock { state in
      defer { (state.handler, state.file) = (nil, nil) }
      return (state.handler, state.file)
    }
    switch error.map({ .failure($0) }) ?? result ?? .failure(URLError(.cannotMoveFile)) {
    case .success(let file): handler?(file, task.response, nil)
    case .failure(let error): handler?(nil, task.response, error)
    }
    if let file = try? result?.get(), !keepsFile || error != nil { try? FileManager.default.removeItem(at: file) }
  }
}

extension URLSession {
  /// Makes the session call `handler` with the downloaded file. Returns the task. If `keepsFile` is false, the session removes the
  /// file when the handler returns.
  func collectFile(
    of task: URLSessionDownloadTask, keepsFile: Bool, _ handler: @escaping DownloadCollector.Handler
  ) -> URLSessionDownloadTask {
    task.setCollector(DownloadCollector(keepsFile: keepsFile, handler), session: self)
    background?.refuseCompletionHandler(of: task)
    return task
  }
}
