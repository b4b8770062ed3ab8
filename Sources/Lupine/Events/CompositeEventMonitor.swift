// `CompositeEventMonitor`: combines several monitors and notifies each on its own queue.

public import Foundation
public import LupineURLSession

/// A monitor that notifies several monitors in order, each on its own queue. Monitors of the type ``AlamofireNotifications`` are
/// called synchronously.
public final class CompositeEventMonitor: EventMonitor {
  /// The queue on which the session calls this monitor.
  public let queue: DispatchQueue
  /// The monitors, in the order in which they are notified.
  public let monitors: [any EventMonitor]

  /// The monitors that are notified asynchronously, each on its own queue: all except ``AlamofireNotifications``.
  private let listeners: [any EventMonitor]
  /// The first of the monitors that are called synchronously, or nil if there are none. Every session has one such monitor by
  /// default, and switching to another queue for each call would slow down every request.
  private let notifications: AlamofireNotifications?
  /// The other monitors that are called synchronously. They are kept apart, because a loop retains each element.
  private let moreNotifications: [AlamofireNotifications]

  init(queue: DispatchQueue, monitors: [any EventMonitor]) {
    self.queue = queue
    self.monitors = monitors
    listeners = monitors.filter { !($0 is AlamofireNotifications) }
    let synchronous = monitors.compactMap { $0 as? AlamofireNotifications }
    notifications = synchronous.first
    moreNotifications = Array(synchronous.dropFirst())
  }

  /// Whether any of the monitors is of a type other than ``AlamofireNotifications``. If not, the only events that must be reported
  /// are those for which notifications are posted.
  var hasListeners: Bool { !listeners.isEmpty }

  // The next two functions aren't inlined. Inlining them in each of the 50 event methods would double the size of this file's code.

  @inline(never)
  private func notify(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    for monitor in listeners { monitor.queue.async { event(monitor) } }
  }

  /// Calls `event` synchronously with each monitor that posts notifications, and then with each other monitor on that monitor's
  /// queue.
  @inline(never)
  private func post(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
    if let notifications { event(notifications) }
    for monitor in moreNotifications { event(monitor) }
    notify(event)
  }

  // MARK: URLSession's events

  /// Notifies each of ``monitors`` when the `URLSession` has been invalidated.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    notify { $0.urlSession(session, didBecomeInvalidWithError: error) }
  }

  /// Notifies each of ``monitors`` when a server or a proxy requires a credential, or when a server requests a client certificate.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  {
    notify { $0.urlSession(session, task: task, didReceive: challenge) }
  }

  /// Notifies each of ``monitors`` when part of the request body has been sent.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    notify {
      $0.urlSession(
        session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
        totalBytesExpectedToSend: totalBytesExpectedToSend)
    }
  }

  /// Notifies each of ``monitors`` when an upload task needs the stream from which it sends its request body.
  public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    notify { $0.urlSession(session, taskNeedsNewBodyStream: task) }
  }

  /// Notifies each of ``monitors`` when a server redirects the request.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) {
    notify { $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) }
  }

  /// Notifies each of ``monitors`` when the task's metrics are available.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {
    notify { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
  }

  /// Notifies each of ``monitors`` when the task has ended.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    notify { $0.urlSession(session, task: task, didCompleteWithError: error) }
  }

  /// Notifies each of ``monitors`` when a task begins to wait for a network.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    notify { $0.urlSession(session, taskIsWaitingForConnectivity: task) }
  }

  /// Notifies each of ``monitors`` when the head of the response has arrived.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    notify { $0.urlSession(session, dataTask: dataTask, didReceive: response) }
  }

  /// Notifies each of ``monitors`` when a piece of the response body has arrived.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notify { $0.urlSession(session, dataTask: dataTask, didReceive: data) }
  }

  /// Notifies each of ``monitors`` when a response has arrived completely and can be stored in the cache.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) {
    notify { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) }
  }

  /// Notifies each of ``monitors`` when a download has been resumed.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {
    notify {
      $0.urlSession(
        session, downloadTask: downloadTask, didResumeAtOffset: fileOffset, expectedTotalBytes: expectedTotalBytes)
    }
  }

  /// Notifies each of ``monitors`` when part of a download has been written to its file.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    notify {
      $0.urlSession(
        session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
        totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }
  }

  /// Notifies each of ``monitors`` when a download has been written completely to a temporary file.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    notify { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) }
  }

  // MARK: Events of every request

  /// Notifies each of ``monitors`` when a `URLRequest` has been created, before adapters run.
  public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    notify { $0.request(request, didCreateInitialURLRequest: urlRequest) }
  }

  /// Notifies each of ``monitors`` when a `URLRequest` could not be created.
  public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    notify { $0.request(request, didFailToCreateURLRequestWithError: error) }
  }

  /// Notifies each of ``monitors`` when the adapters have returned the `URLRequest` to send, whether or not they changed it.
  public func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) {
    notify { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
  }

  /// Notifies each of ``monitors`` when an adapter has failed.
  public func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  {
    notify { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
  }

  /// Notifies each of ``monitors`` when the `URLRequest` to send is final.
  public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    notify { $0.request(request, didCreateURLRequest: urlRequest) }
  }

  /// Notifies each of ``monitors`` when the task that sends the request has been created.
  public func request(_ request: Request, didCreateTask task: URLSessionTask) {
    notify { $0.request(request, didCreateTask: task) }
  }

  /// Notifies each of ``monitors`` when the request has received the task's metrics.
  public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    notify { $0.request(request, didGatherMetrics: metrics) }
  }

  /// Notifies each of ``monitors`` when the request fails before its task has ended, because the server isn't trusted or a stream
  /// handler threw an error.
  public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    notify { $0.request(request, didFailTask: task, earlyWithError: error) }
  }

  /// Notifies each of ``monitors`` when the task has ended and its response has been validated.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    notifications?.request(request, didCompleteTask: task, with: error)
    for monitor in moreNotifications { monitor.request(request, didCompleteTask: task, with: error) }
    guard hasListeners else { return }
    notify { $0.request(request, didCompleteTask: task, with: error) }
  }

  /// Notifies each of ``monitors`` before the request is retried.
  public func requestIsRetrying(_ request: Request) {
    notify { $0.requestIsRetrying(request) }
  }

  /// Notifies each of ``monitors`` when the request has finished and won't be retried, before its response handlers run.
  public func requestDidFinish(_ request: Request) {
    notifications?.requestDidFinish(request)
    for monitor in moreNotifications { monitor.requestDidFinish(request) }
    guard hasListeners else { return }
    notify { $0.requestDidFinish(request) }
  }

  /// Notifies each of ``monitors`` when the request has been resumed.
  public func requestDidResume(_ request: Request) {
    notifications?.requestDidResume(request)
    for monitor in moreNotifications { monitor.requestDidResume(request) }
    guard hasListeners else { return }
    notify { $0.requestDidResume(request) }
  }

  /// Notifies each of ``monitors`` when the request's task has been resumed.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {
    notifications?.request(request, didResumeTask: task)
    for monitor in moreNotifications { monitor.request(request, didResumeTask: task) }
    guard hasListeners else { return }
    notify { $0.request(request, didResumeTask: task) }
  }

  /// Notifies each of ``monitors`` when the request has been suspended.
  public func requestDidSuspend(_ request: Request) {
    post { $0.requestDidSuspend(request) }
  }

  /// Notifies each of ``monitors`` when the request's task has been suspended.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
    post { $0.request(request, didSuspendTask: task) }
  }

  /// Notifies each of ``monitors`` when the request has been cancelled.
  public func requestDidCancel(_ request: Request) {
    post { $0.requestDidCancel(request) }
  }

  /// Notifies each of ``monitors`` when the request's task has been cancelled.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {
    post { $0.request(request, didCancelTask: task) }
  }

  // MARK: Events of data requests

  /// Notifies each of ``monitors`` each time that one of the validations has accepted or rejected the response of a data request.
  public func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) {
    notify { $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result) }
  }

  /// Notifies each of ``monitors`` before the response of a data request is passed to a handler that has no serializer.
  public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    notify { $0.request(request, didParseResponse: response) }
  }

  /// Notifies each of ``monitors`` when the response body has been serialized for a response handler, before the handler is called.
  public func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
  {
    notify { $0.request(request, didParseResponse: response) }
  }

  // MARK: Events of stream requests

  /// Notifies each of ``monitors`` each time that one of the validations has accepted or rejected the response of a stream request.
  public func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {
    notify { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
  }

  /// Notifies each of ``monitors`` when a piece of the response body has been serialized for a stream handler, before the handler
  /// is called.
  public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
    notify { $0.request(request, didParseStream: result) }
  }

  // MARK: Events of upload requests

  /// Notifies each of ``monitors`` when the body of the upload has been created.
  public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    notify { $0.request(request, didCreateUploadable: uploadable) }
  }

  /// Notifies each of ``monitors`` when the body of the upload could not be created.
  public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    notify { $0.request(request, didFailToCreateUploadableWithError: error) }
  }

  /// Notifies each of ``monitors`` when the stream of the request body is passed to the task.
  public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    let stream = BodyStream.box(stream)
    notify { $0.request(request, didProvideInputStream: stream.stream) }
  }

  // MARK: Events of download requests

  /// Notifies each of ``monitors`` when the downloaded file has been moved to its destination, or could not be moved.
  public func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {
    notify { $0.request(request, didFinishDownloadingUsing: task, with: result) }
  }

  /// Notifies each of ``monitors`` when the destination of the downloaded file has been chosen, before the file is moved.
  public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    notify { $0.request(request, didCreateDestinationURL: url) }
  }

  /// Notifies each of ``monitors`` each time that one of the validations has accepted or rejected the response of a download.
  public func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) {
    notify {
      $0.request(request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
    }
  }

  /// Notifies each of ``monitors`` before the response of a download is passed to a handler that has no serializer.
  public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    notify { $0.request(request, didParseResponse: response) }
  }

  /// Notifies each of ``monitors`` when the downloaded file has been serialized for a response handler, before the handler is
  /// called.
  public func request<Value: Sendable>(
    _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
  ) {
    notify { $0.request(request, didParseResponse: response) }
  }
}
