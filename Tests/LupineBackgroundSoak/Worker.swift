// Worker: a process that performs background transfers, and may be killed at any time.

import Foundation
import LupineURLSession
import Synchronization

/// A worker process: performs those of the named transfers that no earlier worker has completed. A name that begins with "d" is a
/// download, and one that begins with "u" an upload of the file with that name.
final class Worker: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
  /// The identifier of the background session, which is the same in all worker processes.
  static let identifier = "soak"

  private let folder: String
  private let url: String
  private let names: [String]
  private let answers = Mutex<[Int: Data]>([:])

  init(folder: String, url: String, names: [String]) {
    self.folder = folder
    self.url = url
    self.names = names
  }

  /// Returns the path of the file that a worker creates when the transfer with this name has completed.
  private func done(_ name: String) -> String { "\(folder)/done/\(name)" }

  func run() -> Never {
    start()
    dispatchMain()
  }

  /// Creates the session and its tasks. This is a separate function so that its variables are released: `dispatchMain` never
  /// returns.
  private func start() {
    let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
    configuration.lupineBackground.directory = URL(filePath: "\(folder)/sessions")
    configuration.lupineBackground.retryDelayMin = .milliseconds(20)
    configuration.lupineBackground.retryDelayMax = .milliseconds(500)
    configuration.connectionProxyDictionary = [:]
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    session.getAllTasks { self.createMissing($0, in: session) }
  }

  /// Creates the tasks that an earlier process has neither created nor completed. The session's tasks must be listed before this
  /// function checks the files, because a task that is no longer listed has already written its file.
  private func createMissing(_ tasks: [URLSessionTask], in session: URLSession) {
    let known = Set(tasks.compactMap(\.taskDescription))
    for task in tasks where task.state == .suspended {
      // A task without a name belongs to a process that was killed before it could set the name.
      if task.taskDescription == nil { task.cancel() } else { task.resume() }
    }
    for name in names where !known.contains(name) && !FileManager.default.fileExists(atPath: done(name)) {
      guard let target = URL(string: "\(url)/\(name)") else { fatalError("\(url) is no URL") }
      var request = URLRequest(url: target)
      let task: URLSessionTask
      if name.hasPrefix("u") {
        request.httpMethod = "PUT"
        task = session.uploadTask(with: request, fromFile: URL(filePath: "\(folder)/uploads/\(name)"))
      } else {
        task = session.downloadTask(with: request)
      }
      task.taskDescription = name
      task.resume()
    }
    endIfDone(session)
  }

  private func endIfDone(_ session: URLSession) {
    if names.allSatisfy({ FileManager.default.fileExists(atPath: done($0)) }) { session.finishTasksAndInvalidate() }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    if let error { print("worker: \(error)") }
    exit(error == nil ? 0 : 3)
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    guard let name = downloadTask.taskDescription else { fatalError("a task without its name") }
    guard rename(location.path, done(name)) == 0 else { fatalError("can't move \(location.path): \(errno)") }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    answers.withLock { $0[dataTask.taskIdentifier, default: Data()] += data }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let name = task.taskDescription else { return }
    let answer = answers.withLock { $0.removeValue(forKey: task.taskIdentifier) } ?? Data()
    if name.hasPrefix("u") || error != nil {
      let text = error.map { "error: \($0.localizedDescription)" } ?? String(decoding: answer, as: UTF8.self)
      // Written atomically, so that the file is complete even if the process is killed.
      try? text.write(toFile: done(name), atomically: true, encoding: .utf8)
    }
    endIfDone(session)
  }
}
