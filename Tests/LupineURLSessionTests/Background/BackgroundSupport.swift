// Background sessions for tests: their folder, what an earlier process has left in it, and a delegate that records events.

import Foundation
import LupineOrigin
import LupineTransferStore
import Synchronization
import Testing

@testable import LupineURLSession

/// The folder in which a background session writes the records of its tasks. It is deleted with this object.
final class SessionFolder: Sendable {
  let directory = FileManager.default.temporaryDirectory.appending(path: "lupine-background-\(UUID().uuidString)")
  static let identifier = "test.session"

  deinit { try? FileManager.default.removeItem(at: directory) }

  var path: String { directory.appending(path: Self.identifier).path }

  /// The names of all files in the background session's folder except the lock file, sorted.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0 != TransferFileName.lock }.sorted()
  }

  func configuration(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
    configuration.httpCookieStorage = HTTPCookieStorage()
    configuration.urlCredentialStorage = URLCredentialStorage()
    configuration.connectionProxyDictionary = [:]
    configuration.lupineBackground.directory = directory
    configuration.lupineBackground.retryDelayMin = .milliseconds(1)
    configuration.lupineBackground.retryDelayMax = .milliseconds(10)
    configure(configuration)
    return configuration
  }

  /// Writes the record of a background task, as if an earlier process had started the task.
  func leave(
    id: UInt64 = 1, _ description: TransferDescription, _ progress: TransferProgress, answer: TransferAnswer? = nil,
    body: [UInt8]? = nil
  ) throws {
    let store = try TransferStore(folder: path)
    defer { store.close() }
    let record = try store.create(id: id, description, progress)
    if let answer { try record.setAnswer(answer) }
    if let body { try Data(body).write(to: URL(filePath: record.bodyPath)) }
  }

  func session(_ delegate: EventRecorder, _ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
    URLSession(configuration: configuration(configure), delegate: delegate, delegateQueue: nil)
  }
}

/// A background session's delegate that records the calls of its methods.
final class EventRecorder: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate, Sendable {
  struct Completion: Sendable {
    let identifier: Int
    let description: String?
    let status: Int?
    let error: URLError?
  }

  struct State: Sendable {
    var files: [[UInt8]] = []
    var data = Data()
    var completions: [Completion] = []
    var offsets: [Int64] = []
    /// The Authorization field of each request for which `willBeginDelayedRequest` was called, or nil if the request has none.
    var asked: [String?] = []
    var finishedEventsCount = 0
    /// The number of calls of the delegate's method `urlSession(_:taskIsWaitingForConnectivity:)`.
    var waitingCount = 0
    var invalidity: [URLError?] = []
    /// The Authorization field that the delegate's `willBeginDelayedRequest` adds to requests, or nil to leave them unchanged.
    var authorization: String?
  }

  let state = Mutex(State())

  var events: State { state.withLock { $0 } }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let bytes = (try? Data(contentsOf: location)).map { [UInt8]($0) } ?? []
    state.withLock { $0.files.append(bytes) }
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { state.withLock { $0.offsets.append(fileOffset) } }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.data += data }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
  ) {
    let authorization = state.withLock { state in
      state.asked.append(request.value(forHTTPHeaderField: "Authorization"))
      return state.authorization
    }
    guard let authorization else { return completionHandler(.continueLoading, nil) }
    var changed = request
    changed.setValue(authorization, forHTTPHeaderField: "Authorization")
    completionHandler(.useNewRequest, changed)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let completion = Completion(
      identifier: task.taskIdentifier, description: task.taskDescription,
      status: (task.response as? HTTPURLResponse)?.statusCode, error: error as? URLError)
    state.withLock { $0.completions.append(completion) }
  }

  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    state.withLock { $0.waitingCount += 1 }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    state.withLock { $0.finishedEventsCount += 1 }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    state.withLock { $0.invalidity.append(error as? URLError) }
  }
}

extension TransferDescription {
  /// Returns the description of a background download of the resource `/r` from the origin.
  static func download(_ origin: OriginServer) -> TransferDescription {
    var description = TransferDescription(kind: .download, url: origin.url + "/r", method: "GET", fields: [])
    description.taskDescription = "kept"
    return description
  }
}

extension TransferAnswer {
  /// Creates the record of the response that an earlier process has received for the resource `/r`.
  init(_ origin: OriginServer, status: UInt32 = 200, tag: String = "\"1\"", byteCount: Int) {
    let fields = [("ETag", tag), ("Accept-Ranges", "bytes"), ("Content-Length", "\(byteCount)")].map {
      RecordedField(name: $0.0, value: Array($0.1.utf8))
    }
    self.init(url: origin.url + "/r", status: status, fields: fields, isDecoded: false)
  }
}
