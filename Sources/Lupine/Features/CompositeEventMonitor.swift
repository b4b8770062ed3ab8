// Several monitors as one: each is told on its own queue.

public import Foundation
public import LupineURLSession

/// Tells several monitors of everything, each on its own queue, in order; ``AlamofireNotifications`` at once.
public final class CompositeEventMonitor: EventMonitor {
  /// The queue on which a session's events happen.
  public let queue: DispatchQueue
  /// The monitors, in the order in which they are told.
  public let monitors: [any EventMonitor]

  /// Those that are told on their own queues.
  private let listeners: [any EventMonitor]
  /// Those that post where the event happens. Every session has one, so that a hop would cost every request.
  private let notifications: [AlamofireNotifications]

  init(queue: DispatchQueue, monitors: [any EventMonitor]) {
    self.queue = queue
    self.monitors = monitors
    listeners = monitors.filter { !($0 is AlamofireNotifications) }
    notifications = monitors.compactMap { $0 as? AlamofireNotifications }
  }

  /// Whether anybody hears of more than those events that notifications are posted of.
  var hasListeners: Bool { !listeners.isEmpty }

  private func tell(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    for monitor in listeners { monitor.queue.async { event(monitor) } }
  }

  /// The same for an event that notifications are posted of. Those of every request make no closure for nobody.
  private func post(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    for monitor in notifications { event(monitor) }
    tell(event)
  }

  // MARK: URLSession's events

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    tell { $0.urlSession(session, didBecomeInvalidWithError: error) }
  }

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  {
    tell { $0.urlSession(session, task: task, didReceive: challenge) }
  }

  /// Tells the monitors.
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

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    tell { $0.urlSession(session, taskNeedsNewBodyStream: task) }
  }

  /// Tells the monitors.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) {
    tell { $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) }
  }

  /// Tells the monitors.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    tell { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
  }

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    tell { $0.urlSession(session, task: task, didCompleteWithError: error) }
  }

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    tell { $0.urlSession(session, taskIsWaitingForConnectivity: task) }
  }

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    tell { $0.urlSession(session, dataTask: dataTask, didReceive: response) }
  }

  /// Tells the monitors.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    tell { $0.urlSession(session, dataTask: dataTask, didReceive: data) }
  }

  /// Tells the monitors.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) {
    tell { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) }
  }

  /// Tells the monitors.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    tell {
      $0.urlSession(
        session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
    }
  }

  /// Tells the monitors.
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

  /// Tells the monitors.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    tell { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) }
  }

  // MARK: Events of every request

  /// Tells the monitors.
  public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    tell { $0.request(request, didCreateInitialURLRequest: urlRequest) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    tell { $0.request(request, didFailToCreateURLRequestWithError: error) }
  }

  /// Tells the monitors.
  public func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) {
    tell { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  {
    tell { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    tell { $0.request(request, didCreateURLRequest: urlRequest) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didCreateTask task: URLSessionTask) {
    tell { $0.request(request, didCreateTask: task) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    tell { $0.request(request, didGatherMetrics: metrics) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    tell { $0.request(request, didFailTask: task, earlyWithError: error) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    for monitor in notifications { monitor.request(request, didCompleteTask: task, with: error) }
    guard hasListeners else { return }
    tell { $0.request(request, didCompleteTask: task, with: error) }
  }

  /// Tells the monitors.
  public func requestIsRetrying(_ request: Request) {
    tell { $0.requestIsRetrying(request) }
  }

  /// Tells the monitors.
  public func requestDidFinish(_ request: Request) {
    post { $0.requestDidFinish(request) }
  }

  /// Tells the monitors.
  public func requestDidResume(_ request: Request) {
    post { $0.requestDidResume(request) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {
    for monitor in notifications { monitor.request(request, didResumeTask: task) }
    guard hasListeners else { return }
    tell { $0.request(request, didResumeTask: task) }
  }

  /// Tells the monitors.
  public func requestDidSuspend(_ request: Request) {
    post { $0.requestDidSuspend(request) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
    post { $0.request(request, didSuspendTask: task) }
  }

  /// Tells the monitors.
  public func requestDidCancel(_ request: Request) {
    post { $0.requestDidCancel(request) }
  }

  /// Tells the monitors.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {
    post { $0.request(request, didCancelTask: task) }
  }

  // MARK: Events of data requests

  /// Tells the monitors.
  public func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) {
    tell { $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result) }
  }

  /// Tells the monitors.
  public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    tell { $0.request(request, didParseResponse: response) }
  }

  /// Tells the monitors.
  public func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
  {
    tell { $0.request(request, didParseResponse: response) }
  }

  // MARK: Events of stream requests

  /// Tells the monitors.
  public func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {
    tell { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
  }

  /// Tells the monitors.
  public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
    tell { $0.request(request, didParseStream: result) }
  }

  // MARK: Events of upload requests

  /// Tells the monitors.
  public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    tell { $0.request(request, didCreateUploadable: uploadable) }
  }

  /// Tells the monitors.
  public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    tell { $0.request(request, didFailToCreateUploadableWithError: error) }
  }

  /// Tells the monitors.
  public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    let stream = BodyStream.box(stream)
    tell { $0.request(request, didProvideInputStream: stream.stream) }
  }

  // MARK: Events of download requests

  /// Tells the monitors.
  public func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {
    tell { $0.request(request, didFinishDownloadingUsing: task, with: result) }
  }

  /// Tells the monitors.
  public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    tell { $0.request(request, didCreateDestinationURL: url) }
  }

  /// Tells the monitors.
  public func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) {
    tell {
      $0.request(request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
    }
  }

  /// Tells the monitors.
  public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    tell { $0.request(request, didParseResponse: response) }
  }

  /// Tells the monitors.
  public func request<Value: Sendable>(
    _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
  ) {
    tell { $0.request(request, didParseResponse: response) }
  }
}

extension CompositeEventMonitor: DataRequestMonitor, DataStreamRequestMonitor, DownloadRequestMonitor {}
extension CompositeEventMonitor: UploadRequestMonitor {}
