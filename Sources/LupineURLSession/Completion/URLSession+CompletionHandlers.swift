// URLSession+CompletionHandlers: connects tasks with their completion handlers.

import Foundation

extension URLSession {
  /// Lets a handler receive a task's response with its whole body. Returns the task.
  func collect<Task: URLSessionTask>(_ task: Task, _ handler: @escaping DataCollector.Handler) -> Task {
    let collector = DataCollector(bodyBytesMax: client.settings.bodyBytesMax, handler)
    task.makeOptions().setCollector(collector, session: self)
    refuseCompletionHandler(of: task)
    return task
  }

  /// Lets a handler receive a download's file. Returns the task.
  func collect(
    _ task: URLSessionDownloadTask, keepsFile: Bool, _ handler: @escaping DownloadCollector.Handler
  ) -> URLSessionDownloadTask {
    task.makeOptions().setCollector(DownloadCollector(keepsFile: keepsFile, handler), session: self)
    refuseCompletionHandler(of: task)
    return task
  }
}
