// DownloadTaskDelegate: the file and the progress of a download.

import Foundation
import LupineURLSession
import Synchronization

// Unchecked because the superclass is. All state is constant or in the Mutex.
/// Moves the file of a download to its destination.
final class DownloadTaskDelegate: TaskDelegate, @unchecked Sendable {
  struct Files {
    var temporaryURL: URL?
    /// The chosen destination, even if the file couldn't be moved there.
    var destinationURL: URL?
    /// Whether the downloaded file is at `destinationURL`.
    var isMoved = false
    var resumeData: Data?
  }

  let progress = TransferProgress()
  private let destination: Transferred<DownloadRequest.DownloadFileDestination>?
  private let state = Mutex(Files())

  init(destination: DownloadRequest.DownloadFileDestination?, error: (any Error)? = nil) {
    self.destination = destination.map { Transferred($0) }
    super.init(error: error)
  }

  var files: Files { state.withLock { $0 } }

  /// The URL of the downloaded file that response handlers read, or nil if there is no file.
  var fileURL: URL? { destination == nil ? files.temporaryURL : files.destinationURL }

  func keep(resumeData: Data?) {
    state.withLock { $0.resumeData = resumeData ?? $0.resumeData }
  }

  override func reset() {
    super.reset()
    let left = state.withLock { files in
      defer { files = Files() }
      return files
    }
    // Removes the file of the failed attempt, because an existing file would prevent the next attempt from moving its file to the
    // destination.
    let file = left.isMoved ? left.destinationURL : left.temporaryURL
    if let file { try? FileManager.default.removeItem(at: file) }
  }

  override func complete(with error: (any Error)?) {
    keep(resumeData: (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
    super.complete(with: error)
  }

  /// Moves the completely downloaded file to its destination. If the request has no destination, renames the temporary file.
  func receive(_ file: URL, response: HTTPURLResponse?) {
    var move = DownloadDestination(
      url: file.deletingLastPathComponent().appending(path: "Alamofire_\(file.lastPathComponent)"))
    if let destination {
      state.withLock { $0.temporaryURL = file }
      guard let response else { return }
      let (url, options) = destination.value(file, response)
      state.withLock { $0.destinationURL = url }
      move = DownloadDestination(
        url: url, createsIntermediateDirectories: options.contains(.createIntermediateDirectories),
        removesPreviousFile: options.contains(.removePreviousFile))
    }
    do {
      try move.move(from: file)
      let url = move.url
      let hasDestination = destination != nil
      state.withLock { if hasDestination { $0.isMoved = true } else { $0.temporaryURL = url } }
    } catch {
      self.error = error
    }
  }
}
