// DownloadCollector: calls a task's completion handler with the downloaded file.

import Foundation
import Synchronization

/// The collector of a download task with a completion handler. It keeps the downloaded file until the task has completed, and then
/// passes the file to the handler.
final class DownloadCollector: TaskCollector {
  typealias Handler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

  private struct State: ~Copyable {
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

  func receive(_ location: URL) {
    // Moves the file, because the task removes it when this method returns. The handler is called later, when the task has
    // completed.
    let kept = location.deletingLastPathComponent().appending(path: "lupine-\(UUID().uuidString).download")
    let result = Result { () throws -> URL in
      try FileManager.default.moveItem(at: location, to: kept)
      return kept
    }
    state.withLock { $0.file = result }
  }

  func complete(_ response: URLResponse?, _ error: (any Error)?) {
    let (handler, result) = state.withLock { ($0.handler.take(), $0.file.take()) }
    switch error.map({ .failure($0) }) ?? result ?? .failure(URLError(.cannotMoveFile)) {
    case .success(let file): handler?(file, response, nil)
    case .failure(let error): handler?(nil, response, error)
    }
    if let file = try? result?.get(), !keepsFile || error != nil { try? FileManager.default.removeItem(at: file) }
  }
}
