// Observer: a delegate that records the events of a background session.

import CLupineFaults
import Foundation
import LupineURLSession
import Synchronization

/// A session delegate that records the downloaded files, the bodies and the completions of tasks, and the end of the session.
final class Observer: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
  struct Events: Sendable {
    var files: [Data] = []
    var body = Data()
    /// The task identifier and the error code of each completed task. The code is nil for a task that succeeded.
    var completions: [(number: Int, code: URLError.Code?)] = []
    /// The code of the error with which the session became invalid, or nil if there was no error.
    var invalidity: URLError.Code?
  }

  private let state = Mutex(Events())
  private let end = DispatchSemaphore(value: 0)

  /// Waits until the session has become invalid, and returns its events. Returns nil after 30 s. Must be called only once.
  func awaitEnd() -> Events? {
    end.wait(timeout: .now() + .seconds(30)) == .success ? state.withLock { $0 } : nil
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    lupine_faults_exempt_thread(true)
    let data = (try? Data(contentsOf: location)) ?? Data()
    lupine_faults_exempt_thread(false)
    state.withLock { $0.files.append(data) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.body += data }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let code = error.map { ($0 as? URLError)?.code ?? .unknown }
    state.withLock { $0.completions.append((task.taskIdentifier, code)) }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    let code = error.map { ($0 as? URLError)?.code ?? .unknown }
    state.withLock { $0.invalidity = code }
    end.signal()
  }
}
