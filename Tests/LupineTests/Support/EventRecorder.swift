// `EventRecorder`: an event monitor that records its events in order.

import Foundation
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

/// The name of an EventMonitor event: its closure's name in `ClosureEventMonitor`, which lacks closures for the last three.
enum EventName: String, CaseIterable, CustomStringConvertible {
  case sessionDidBecomeInvalidWithError
  case taskDidReceiveChallenge
  case taskDidSendBodyData
  case taskNeedNewBodyStream
  case taskWillPerformHTTPRedirection
  case taskDidFinishCollectingMetrics
  case taskDidComplete
  case taskIsWaitingForConnectivity
  case dataTaskDidReceiveResponse
  case dataTaskDidReceiveData
  case dataTaskWillCacheResponse
  case downloadTaskDidResumeAtOffset
  case downloadTaskDidWriteData
  case downloadTaskDidFinishDownloadingToURL
  case requestDidCreateInitialURLRequest
  case requestDidFailToCreateURLRequestWithError
  case requestDidAdaptInitialRequestToAdaptedRequest
  case requestDidFailToAdaptURLRequestWithError
  case requestDidCreateURLRequest
  case requestDidCreateTask
  case requestDidGatherMetrics
  case requestDidFailTaskEarlyWithError
  case requestDidCompleteTaskWithError
  case requestIsRetrying
  case requestDidFinish
  case requestDidResume
  case requestDidResumeTask
  case requestDidSuspend
  case requestDidSuspendTask
  case requestDidCancel
  case requestDidCancelTask
  case requestDidValidateRequestResponseDataWithResult
  case requestDidParseResponse
  case requestDidValidateRequestResponseWithResult
  case requestDidCreateUploadable
  case requestDidFailToCreateUploadableWithError
  case requestDidProvideInputStream
  case requestDidFinishDownloadingUsingTaskWithResult
  case requestDidCreateDestinationURL
  case requestDidValidateRequestResponseFileURLWithResult
  case requestDidParseDownloadResponse
  case requestDidParseValue
  case requestDidParseDownloadValue
  case requestDidParseStream

  var description: String { rawValue }

  /// Whether the event is about an Alamofire `Request`, not about a URLSession or a task.
  var isOfRequest: Bool { rawValue.hasPrefix("request") }
}

/// An event monitor that records all events, in order, on a dedicated queue.
final class EventRecorder: EventMonitor {
  let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()
  private let log = Mutex(Log())

  private struct Log {
    var events: [(name: EventName, subject: Subject)] = []
    var misplacedCount = 0
  }

  /// A weak reference to an event's request or task. A strong reference would cause a cycle, because a request retains its
  /// monitors.
  private final class Subject {
    weak var object: (any AnyObject & Sendable)?

    init(_ object: (any AnyObject & Sendable)?) { self.object = object }
  }

  init(queue: DispatchQueue = DispatchQueue(label: "events")) {
    self.queue = queue
    queue.setSpecific(key: key, value: true)
  }

  /// The number of events that were delivered on another queue than the recorder's.
  var misplacedCount: Int { log.withLock { $0.misplacedCount } }

  /// The names of all events, in order.
  var names: [EventName] { log.withLock { $0.events.map(\.name) } }

  /// Returns the names of the events about the request and its tasks, in order. First waits for the delivery of all events
  /// that the request has caused so far.
  func names(about request: Request) async -> [EventName] {
    await request.underlyingQueue.turn()
    await queue.turn()
    let subjects: [any AnyObject & Sendable] = [request] + request.tasks
    return log.withLock { log in
      log.events.filter { event in subjects.contains { $0 === event.subject.object } }.map(\.name)
    }
  }

  private func note(_ name: EventName, _ subject: (any AnyObject & Sendable)? = nil) {
    let isHere = DispatchQueue.getSpecific(key: key) == true
    log.withLock { log in
      log.events.append((name, Subject(subject)))
      if !isHere { log.misplacedCount += 1 }
    }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    note(.sessionDidBecomeInvalidWithError)
  }
  func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
    note(.taskDidReceiveChallenge, task)
  }
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { note(.taskDidSendBodyData, task) }
  func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    note(.taskNeedNewBodyStream, task)
  }
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) { note(.taskWillPerformHTTPRedirection, task) }
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    note(.taskDidFinishCollectingMetrics, task)
  }
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note(.taskDidComplete, task)
  }
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    note(.taskIsWaitingForConnectivity, task)
  }
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    note(.dataTaskDidReceiveResponse, dataTask)
  }
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    note(.dataTaskDidReceiveData, dataTask)
  }
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) { note(.dataTaskWillCacheResponse, dataTask) }
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { note(.downloadTaskDidResumeAtOffset, downloadTask) }
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { note(.downloadTaskDidWriteData, downloadTask) }
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    note(.downloadTaskDidFinishDownloadingToURL, downloadTask)
  }
  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    note(.requestDidCreateInitialURLRequest, request)
  }
  func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    note(.requestDidFailToCreateURLRequestWithError, request)
  }
  func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
    note(.requestDidAdaptInitialRequestToAdaptedRequest, request)
  }
  func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
    note(.requestDidFailToAdaptURLRequestWithError, request)
  }
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    note(.requestDidCreateURLRequest, request)
  }
  func request(_ request: Request, didCreateTask task: URLSessionTask) { note(.requestDidCreateTask, request) }
  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    note(.requestDidGatherMetrics, request)
  }
  func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    note(.requestDidFailTaskEarlyWithError, request)
  }
  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    note(.requestDidCompleteTaskWithError, request)
  }
  func requestIsRetrying(_ request: Request) { note(.requestIsRetrying, request) }
  func requestDidFinish(_ request: Request) { note(.requestDidFinish, request) }
  func requestDidResume(_ request: Request) { note(.requestDidResume, request) }
  func request(_ request: Request, didResumeTask task: URLSessionTask) { note(.requestDidResumeTask, request) }
  func requestDidSuspend(_ request: Request) { note(.requestDidSuspend, request) }
  func request(_ request: Request, didSuspendTask task: URLSessionTask) { note(.requestDidSuspendTask, request) }
  func requestDidCancel(_ request: Request) { note(.requestDidCancel, request) }
  func request(_ request: Request, didCancelTask task: URLSessionTask) { note(.requestDidCancelTask, request) }
  func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) { note(.requestDidValidateRequestResponseDataWithResult, request) }
  func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    note(.requestDidParseResponse, request)
  }
  func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) { note(.requestDidValidateRequestResponseWithResult, request) }
  func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    note(.requestDidCreateUploadable, request)
  }
  func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    note(.requestDidFailToCreateUploadableWithError, request)
  }
  func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    note(.requestDidProvideInputStream, request)
  }
  func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) { note(.requestDidFinishDownloadingUsingTaskWithResult, request) }
  func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    note(.requestDidCreateDestinationURL, request)
  }
  func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) { note(.requestDidValidateRequestResponseFileURLWithResult, request) }
  func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    note(.requestDidParseDownloadResponse, request)
  }
  func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
    note(.requestDidParseValue, request)
  }
  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
  {
    note(.requestDidParseDownloadValue, request)
  }
  func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
    note(.requestDidParseStream, request)
  }
}

extension DispatchQueue {
  /// Waits until all work that has been added to the queue so far has run.
  func turn() async {
    await withCheckedContinuation { continuation in async { continuation.resume() } }
  }
}

/// Calls `body` with a session that has only these event monitors, and that doesn't resume requests automatically.
func withMonitoredSession<Value>(
  _ monitors: [any EventMonitor], setup: Session.RequestSetup = .lazy, requestQueue: DispatchQueue? = nil,
  serializationQueue: DispatchQueue? = nil, interceptor: (any RequestInterceptor)? = nil,
  _ body: (Session) async throws -> Value
) async throws -> Value {
  let configuration = URLSessionConfiguration.af.ephemeral
  configuration.timeoutIntervalForRequest = 100
  let session = Session(
    configuration: configuration, startRequestsImmediately: false, requestSetup: setup, requestQueue: requestQueue,
    serializationQueue: serializationQueue, interceptor: interceptor, eventMonitors: monitors)
  defer { withExtendedLifetime(session) {} }
  return try await body(session)
}
