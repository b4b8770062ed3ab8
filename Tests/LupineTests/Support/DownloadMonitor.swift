// `DownloadMonitor`: an event monitor that records a download's events by name, in order.

import Foundation
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// An event monitor that records the names of a download's events, in order.
final class DownloadMonitor: EventMonitor {
  let queue = DispatchQueue(label: "download-monitor")
  private let heard = Mutex<(events: [String], temporaryURL: URL?)>(([], nil))

  /// The names of the events so far. Of consecutive equal events, only one is recorded.
  var events: [String] { queue.sync { heard.withLock { $0.events } } }
  /// The location of the complete downloaded file, as passed to `didFinishDownloadingTo`.
  var temporaryURL: URL? { queue.sync { heard.withLock { $0.temporaryURL } } }

  private func note(_ event: String) {
    heard.withLock { if $0.events.last != event { $0.events.append(event) } }
  }

  func requestDidResume(_ request: Request) { note("requestDidResume") }
  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    note("didCreateInitialURLRequest")
  }
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { note("didCreateURLRequest") }
  func request(_ request: Request, didCreateTask task: URLSessionTask) { note("didCreateTask") }
  func request(_ request: Request, didResumeTask task: URLSessionTask) { note("didResumeTask") }
  func requestDidCancel(_ request: Request) { note("requestDidCancel") }
  func request(_ request: Request, didCancelTask task: URLSessionTask) { note("didCancelTask") }
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { note("didResumeAtOffset \(fileOffset) of \(expectedTotalBytes)") }
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { note("didWriteData") }
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    heard.withLock { $0.temporaryURL = location }
    note("didFinishDownloadingTo")
  }
  func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) { note("didCreateDestinationURL") }
  func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {
    if case .success = result { note("didFinishDownloadingUsing") } else { note("didFinishDownloadingUsing failed") }
  }
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    note("didFinishCollecting")
  }
  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) { note("didGatherMetrics") }
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note("didCompleteWithError")
  }
  func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) { note(fileURL == nil ? "didValidateRequest without file" : "didValidateRequest") }
  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    note("didCompleteTask")
  }
  func requestIsRetrying(_ request: Request) { note("requestIsRetrying") }
  func requestDidFinish(_ request: Request) { note("requestDidFinish") }
  func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    note("didParseResponse of a file")
  }
  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
  {
    note("didParseResponse of \(Value.self)")
  }
}
