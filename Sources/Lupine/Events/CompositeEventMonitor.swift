// `CompositeEventMonitor`: combines several monitors and notifies each on its own queue.

public import Foundation
public import LupineURLSession

/// Notifies several monitors in order, each on its own queue. Monitors of the type ``AlamofireNotifications`` are called
/// synchronously.
public final class CompositeEventMonitor: EventMonitor {
  /// The queue on which the session calls this monitor.
  public let queue: DispatchQueue
  /// The monitors, in the order in which they are notified.
  public let monitors: [any EventMonitor]

  /// The monitors that are notified asynchronously, each on its own queue.
  private let listeners: [any EventMonitor]
  /// The monitors that are called synchronously. Every session has one such monitor by default, and calling it on another queue
  /// would slow down every request.
  private let notifications: [AlamofireNotifications]

  init(queue: DispatchQueue, monitors: [any EventMonitor]) {
    self.queue = queue
    self.monitors = monitors
    listeners = monitors.filter { !($0 is AlamofireNotifications) }
    notifications = monitors.compactMap { $0 as? AlamofireNotifications }
  }

  /// Whether any monitor is of a type other than ``AlamofireNotifications``. If not, only events for which notifications are posted
  /// need to be reported.
  var hasListeners: Bool { !listeners.isEmpty }

  // Inlined in each of the 50 events, these two functions would double the size of this file's code.

  @inline(never)
  private func tell(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    for monitor in listeners { monitor.queue.async { event(monitor) } }
  }

  /// Calls `event` synchronously with each monitor that posts notifications, and then with each other monitor on that monitor's
  /// queue.
  @inline(never)
  private func post(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    for monitor in notifications { event(monitor) }
    tell(event)
  }

  // MARK: URLSession's events

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    tell { $0.urlSession(session, didBecomeInvalidWithError: error) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  {
    tell { $0.urlSession(session, task: task, didReceive: challenge) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    tell {
      $0.urlSession(
        session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
        totalBytesExpectedToSend: totalBytesExpectedToSend)
    }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    tell { $0.urlSession(session, taskNeedsNewBodyStream: task) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) {
    tell { $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    tell { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    tell { $0.urlSession(session, task: task, didCompleteWithError: error) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    tell { $0.urlSession(session, taskIsWaitingForConnectivity: task) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    tell { $0.urlSession(session, dataTask: dataTask, didReceive: response) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    tell { $0.urlSession(session, dataTask: dataTask, didReceive: data) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) {
    tell { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    tell {
      $0.urlSession(
        session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
    }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    tell {
      $0.urlSession(
        session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
        totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }
  }

  /// Passes this event to each of the monitors.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    tell { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) }
  }

  // MARK: Events of every request

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    tell { $0.request(request, didCreateInitialURLRequest: urlRequest) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    tell { $0.request(request, didFailToCreateURLRequestWithError: error) }
  }

  /// Passes this event to each of the monitors.
  public func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) {
    tell { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  {
    tell { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    tell { $0.request(request, didCreateURLRequest: urlRequest) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didCreateTask task: URLSessionTask) {
    tell { $0.request(request, didCreateTask: task) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    tell { $0.request(request, didGatherMetrics: metrics) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    tell { $0.request(request, didFailTask: task, earlyWithError: error) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    for monitor in notifications { monitor.request(request, didCompleteTask: task, with: error) }
    guard hasListeners else { return }
    tell { $0.request(request, didCompleteTask: task, with: error) }
  }

  /// Passes this event to each of the monitors.
  public func requestIsRetrying(_ request: Request) {
    tell { $0.requestIsRetrying(request) }
  }

  /// Passes this event to each of the monitors.
  public func requestDidFinish(_ request: Request) {
    for monitor in notifications { monitor.requestDidFinish(request) }
    guard hasListeners else { return }
    tell { $0.requestDidFinish(request) }
  }

  /// Passes this event to each of the monitors.
  public func requestDidResume(_ request: Request) {
    for monitor in notifications { monitor.requestDidResume(request) }
    guard hasListeners else { return }
    tell { $0.requestDidResume(request) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {
    for monitor in notifications { monitor.request(request, didResumeTask: task) }
    guard hasListeners else { return }
    tell { $0.request(request, didResumeTask: task) }
  }

  /// Passes this event to each of the monitors.
  public func requestDidSuspend(_ request: Request) {
    post { $0.requestDidSuspend(request) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
    post { $0.request(request, didSuspendTask: task) }
  }

  /// Passes this event to each of the monitors.
  public func requestDidCancel(_ request: Request) {
    post { $0.requestDidCancel(request) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {
    post { $0.request(request, didCancelTask: task) }
  }

  // MARK: Events of data requests

  /// Passes this event to each of the monitors.
  public func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) {
    tell { $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    tell { $0.request(request, didParseResponse: response) }
  }

  /// Passes this event to each of the monitors.
  public func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
  {
    tell { $0.request(request, didParseResponse: response) }
  }

  // MARK: Events of stream requests

  /// Passes this event to each of the monitors.
  public func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {
    tell { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
  }

  /// Passes this event to each of the monitors.
  public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
    tell { $0.request(request, didParseStream: result) }
  }

  // MARK: Events of upload requests

  /// Passes this event to each of the monitors.
  public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    tell { $0.request(request, didCreateUploadable: uploadable) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    tell { $0.request(request, didFailToCreateUploadableWithError: error) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    let stream = BodyStream.box(stream)
    tell { $0.request(request, didProvideInputStream: stream.stream) }
  }

  // MARK: Events of download requests

  /// Passes this event to each of the monitors.
  public func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {
    tell { $0.request(request, didFinishDownloadingUsing: task, with: result) }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    tell { $0.request(request, didCreateDestinationURL: url) }
  }

  /// Passes this event to each of the monitors.
  public func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) {
    tell {
      $0.request(request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
    }
  }

  /// Passes this event to each of the monitors.
  public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    tell { $0.request(request, didParseResponse: response) }
  }

  /// Passes this event to each of the monitors.
  public func request<Value: Sendable>(
    _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
  ) {
    tell { $0.request(request, didParseResponse: response) }
  }
}

extension CompositeEventMonitor: DataRequestMonitor, DataStreamRequestMonitor, DownloadRequestMonitor {}
extension CompositeEventMonitor: UploadRequestMonitor {}
