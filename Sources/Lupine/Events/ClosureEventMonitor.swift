// `ClosureEventMonitor`: an event monitor that calls closures, in the order of the protocol's methods.

public import Foundation
public import LupineURLSession

// Unchecked because the class is open. All state is constant or protected by the Mutex of a closure's wrapper.
/// A monitor that calls a closure for each event. Ignores events for which no closure is set.
///
/// A closure has the parameters of the event's method, and is called on ``queue``. A closure can be set at any time, and is
/// called from the next event on. If a subclass overrides an event's method, the closure is called only if the method calls
/// `super`.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {
  /// The queue on which the monitor's closures are called. The main queue by default.
  public let queue: DispatchQueue

  /// Creates a monitor without closures. `queue` is the queue on which the closures are called; it should be serial.
  public init(queue: DispatchQueue = .main) {
    self.queue = queue
  }

  // MARK: The closures

  /// The closure for the event `urlSession(_:didBecomeInvalidWithError:)`, or nil to ignore the event.
  @EventClosure open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?
  /// The closure for the event `urlSession(_:task:didReceive:)`, or nil to ignore the event.
  @EventClosure open var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
  /// The closure for `urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)`, or nil.
  @EventClosure open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
  /// The closure for the event `urlSession(_:taskNeedsNewBodyStream:)`, or nil to ignore the event.
  @EventClosure open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)?
  /// The closure for the event `urlSession(_:task:willPerformHTTPRedirection:newRequest:)`, or nil to ignore the event.
  @EventClosure open var taskWillPerformHTTPRedirection:
    ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
  /// The closure for the event `urlSession(_:task:didFinishCollecting:)`, or nil to ignore the event.
  @EventClosure open var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)?
  /// The closure for the event `urlSession(_:task:didCompleteWithError:)`, or nil to ignore the event.
  @EventClosure open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?
  /// The closure for the event `urlSession(_:taskIsWaitingForConnectivity:)`, or nil to ignore the event.
  @EventClosure open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)?
  /// The closure for the event `urlSession(_:dataTask:didReceive:)` of a response head, or nil to ignore the event.
  @EventClosure open var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)?
  /// The closure for the event `urlSession(_:dataTask:didReceive:)` of a piece of the body, or nil to ignore the event.
  @EventClosure open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?
  /// The closure for the event `urlSession(_:dataTask:willCacheResponse:)`, or nil to ignore the event.
  @EventClosure open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?
  /// The closure for the event `urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`, or nil to ignore the event.
  @EventClosure open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
  /// The closure for `urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)`, or nil.
  @EventClosure open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
  /// The closure for the event `urlSession(_:downloadTask:didFinishDownloadingTo:)`, or nil to ignore the event.
  @EventClosure open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
  /// The closure for the event `request(_:didCreateInitialURLRequest:)`, or nil to ignore the event.
  @EventClosure open var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)?
  /// The closure for the event `request(_:didFailToCreateURLRequestWithError:)`, or nil to ignore the event.
  @EventClosure open var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)?
  /// The closure for the event `request(_:didAdaptInitialRequest:to:)`, or nil to ignore the event.
  @EventClosure open var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)?
  /// The closure for the event `request(_:didFailToAdaptURLRequest:withError:)`, or nil to ignore the event.
  @EventClosure open var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)?
  /// The closure for the event `request(_:didCreateURLRequest:)`, or nil to ignore the event.
  @EventClosure open var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)?
  /// The closure for the event `request(_:didCreateTask:)`, or nil to ignore the event.
  @EventClosure open var requestDidCreateTask: ((Request, URLSessionTask) -> Void)?
  /// The closure for the event `request(_:didGatherMetrics:)`, or nil to ignore the event.
  @EventClosure open var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)?
  /// The closure for the event `request(_:didFailTask:earlyWithError:)`, or nil to ignore the event.
  @EventClosure open var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)?
  /// The closure for the event `request(_:didCompleteTask:with:)`, or nil to ignore the event.
  @EventClosure open var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)?
  /// The closure for the event `requestIsRetrying(_:)`, or nil to ignore the event.
  @EventClosure open var requestIsRetrying: ((Request) -> Void)?
  /// The closure for the event `requestDidFinish(_:)`, or nil to ignore the event.
  @EventClosure open var requestDidFinish: ((Request) -> Void)?
  /// The closure for the event `requestDidResume(_:)`, or nil to ignore the event.
  @EventClosure open var requestDidResume: ((Request) -> Void)?
  /// The closure for the event `request(_:didResumeTask:)`, or nil to ignore the event.
  @EventClosure open var requestDidResumeTask: ((Request, URLSessionTask) -> Void)?
  /// The closure for the event `requestDidSuspend(_:)`, or nil to ignore the event.
  @EventClosure open var requestDidSuspend: ((Request) -> Void)?
  /// The closure for the event `request(_:didSuspendTask:)`, or nil to ignore the event.
  @EventClosure open var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)?
  /// The closure for the event `requestDidCancel(_:)`, or nil to ignore the event.
  @EventClosure open var requestDidCancel: ((Request) -> Void)?
  /// The closure for the event `request(_:didCancelTask:)`, or nil to ignore the event.
  @EventClosure open var requestDidCancelTask: ((Request, URLSessionTask) -> Void)?
  /// The closure for the event `request(_:didValidateRequest:response:data:withResult:)`, or nil to ignore the event.
  @EventClosure open var requestDidValidateRequestResponseDataWithResult:
    ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
  /// The closure for the event `request(_:didParseResponse:)` of a data request, or nil to ignore the event.
  @EventClosure open var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)?
  /// The closure for the event `request(_:didValidateRequest:response:withResult:)`, or nil to ignore the event.
  @EventClosure open var requestDidValidateRequestResponseWithResult:
    ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
  /// The closure for the event `request(_:didCreateUploadable:)`, or nil to ignore the event.
  @EventClosure open var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)?
  /// The closure for the event `request(_:didFailToCreateUploadableWithError:)`, or nil to ignore the event.
  @EventClosure open var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)?
  /// The closure for the event `request(_:didProvideInputStream:)`, or nil to ignore the event.
  @EventClosure open var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)?
  /// The closure for the event `request(_:didFinishDownloadingUsing:with:)`, or nil to ignore the event.
  @EventClosure open var requestDidFinishDownloadingUsingTaskWithResult:
    ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
  /// The closure for the event `request(_:didCreateDestinationURL:)`, or nil to ignore the event.
  @EventClosure open var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)?
  /// The closure for the event `request(_:didValidateRequest:response:fileURL:withResult:)`, or nil to ignore the event.
  @EventClosure open var requestDidValidateRequestResponseFileURLWithResult:
    ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
  /// The closure for the event `request(_:didParseResponse:)` of a download, or nil to ignore the event.
  @EventClosure open var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?

  // MARK: The events

  /// Calls the closure ``sessionDidBecomeInvalidWithError``, if it is set.
  open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    sessionDidBecomeInvalidWithError?(session, error)
  }
  /// Calls the closure ``taskDidReceiveChallenge``, if it is set.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
    taskDidReceiveChallenge?(session, task, challenge)
  }
  /// Calls the closure ``taskDidSendBodyData``, if it is set.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend) }
  /// Calls the closure ``taskNeedNewBodyStream``, if it is set.
  open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    taskNeedNewBodyStream?(session, task)
  }
  /// Calls the closure ``taskWillPerformHTTPRedirection``, if it is set.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) { taskWillPerformHTTPRedirection?(session, task, response, request) }
  /// Calls the closure ``taskDidFinishCollectingMetrics``, if it is set.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  { taskDidFinishCollectingMetrics?(session, task, metrics) }
  /// Calls the closure ``taskDidComplete``, if it is set.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    taskDidComplete?(session, task, error)
  }
  /// Calls the closure ``taskIsWaitingForConnectivity``, if it is set.
  open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    taskIsWaitingForConnectivity?(session, task)
  }
  /// Calls the closure ``dataTaskDidReceiveResponse``, if it is set.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    dataTaskDidReceiveResponse?(session, dataTask, response)
  }
  /// Calls the closure ``dataTaskDidReceiveData``, if it is set.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    dataTaskDidReceiveData?(session, dataTask, data)
  }
  /// Calls the closure ``dataTaskWillCacheResponse``, if it is set.
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) { dataTaskWillCacheResponse?(session, dataTask, proposedResponse) }
  /// Calls the closure ``downloadTaskDidResumeAtOffset``, if it is set.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes) }
  /// Calls the closure ``downloadTaskDidWriteData``, if it is set.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { downloadTaskDidWriteData?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite) }
  /// Calls the closure ``downloadTaskDidFinishDownloadingToURL``, if it is set.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) { downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location) }
  /// Calls the closure ``requestDidCreateInitialURLRequest``, if it is set.
  open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    requestDidCreateInitialURLRequest?(request, urlRequest)
  }
  /// Calls the closure ``requestDidFailToCreateURLRequestWithError``, if it is set.
  open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    requestDidFailToCreateURLRequestWithError?(request, error)
  }
  /// Calls the closure ``requestDidAdaptInitialRequestToAdaptedRequest``, if it is set.
  open func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) { requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest) }
  /// Calls the closure ``requestDidFailToAdaptURLRequestWithError``, if it is set.
  open func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
    requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
  }
  /// Calls the closure ``requestDidCreateURLRequest``, if it is set.
  open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    requestDidCreateURLRequest?(request, urlRequest)
  }
  /// Calls the closure ``requestDidCreateTask``, if it is set.
  open func request(_ request: Request, didCreateTask task: URLSessionTask) { requestDidCreateTask?(request, task) }
  /// Calls the closure ``requestDidGatherMetrics``, if it is set.
  open func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    requestDidGatherMetrics?(request, metrics)
  }
  /// Calls the closure ``requestDidFailTaskEarlyWithError``, if it is set.
  open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    requestDidFailTaskEarlyWithError?(request, task, error)
  }
  /// Calls the closure ``requestDidCompleteTaskWithError``, if it is set.
  open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    requestDidCompleteTaskWithError?(request, task, error)
  }
  /// Calls the closure ``requestIsRetrying``, if it is set.
  open func requestIsRetrying(_ request: Request) { requestIsRetrying?(request) }
  /// Calls the closure ``requestDidFinish``, if it is set.
  open func requestDidFinish(_ request: Request) { requestDidFinish?(request) }
  /// Calls the closure ``requestDidResume``, if it is set.
  open func requestDidResume(_ request: Request) { requestDidResume?(request) }
  /// Calls the closure ``requestDidResumeTask``, if it is set.
  open func request(_ request: Request, didResumeTask task: URLSessionTask) { requestDidResumeTask?(request, task) }
  /// Calls the closure ``requestDidSuspend``, if it is set.
  open func requestDidSuspend(_ request: Request) { requestDidSuspend?(request) }
  /// Calls the closure ``requestDidSuspendTask``, if it is set.
  open func request(_ request: Request, didSuspendTask task: URLSessionTask) { requestDidSuspendTask?(request, task) }
  /// Calls the closure ``requestDidCancel``, if it is set.
  open func requestDidCancel(_ request: Request) { requestDidCancel?(request) }
  /// Calls the closure ``requestDidCancelTask``, if it is set.
  open func request(_ request: Request, didCancelTask task: URLSessionTask) { requestDidCancelTask?(request, task) }
  /// Calls the closure ``requestDidValidateRequestResponseDataWithResult``, if it is set.
  open func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result) }
  /// Calls the closure ``requestDidParseResponse``, if it is set.
  open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    requestDidParseResponse?(request, response)
  }
  /// Calls the closure ``requestDidValidateRequestResponseWithResult``, if it is set.
  open func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result) }
  /// Calls the closure ``requestDidCreateUploadable``, if it is set.
  open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    requestDidCreateUploadable?(request, uploadable)
  }
  /// Calls the closure ``requestDidFailToCreateUploadableWithError``, if it is set.
  open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    requestDidFailToCreateUploadableWithError?(request, error)
  }
  /// Calls the closure ``requestDidProvideInputStream``, if it is set.
  open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    requestDidProvideInputStream?(request, stream)
  }
  /// Calls the closure ``requestDidFinishDownloadingUsingTaskWithResult``, if it is set.
  open func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) { requestDidFinishDownloadingUsingTaskWithResult?(request, task, result) }
  /// Calls the closure ``requestDidCreateDestinationURL``, if it is set.
  open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    requestDidCreateDestinationURL?(request, url)
  }
  /// Calls the closure ``requestDidValidateRequestResponseFileURLWithResult``, if it is set.
  open func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result) }
  /// Calls the closure ``requestDidParseDownloadResponse``, if it is set.
  open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    requestDidParseDownloadResponse?(request, response)
  }
}
