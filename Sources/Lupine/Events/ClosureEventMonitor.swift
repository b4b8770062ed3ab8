// `ClosureEventMonitor`: an event monitor that calls closures, in the order of the protocol's methods.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// Calls a closure for each event. Events without a closure are ignored.
///
/// A closure has the parameters of the event's method, and is called on ``queue``. A closure can be set at any time, and is
/// called from the next event on. If a subclass overrides an event's method, the closure is called only if the method calls
/// `super`.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {
  /// The queue on which the closures are called.
  public let queue: DispatchQueue

  private let snapshot = Mutex(EventClosures.Snapshot())

  /// Creates a monitor without closures. `queue` is the queue on which the closures are called; it should be serial.
  public init(queue: DispatchQueue = .main) {
    self.queue = queue
  }

  // MARK: The closures

  /// The closure that `urlSession(_:didBecomeInvalidWithError:)` calls, or nil.
  open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
    get { snapshot.current.closures.sessionDidBecomeInvalidWithError }
    set { snapshot.update { $0.sessionDidBecomeInvalidWithError = newValue } }
  }
  /// The closure that `urlSession(_:task:didReceive:)` calls, or nil.
  open var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)? {
    get { snapshot.current.closures.taskDidReceiveChallenge }
    set { snapshot.update { $0.taskDidReceiveChallenge = newValue } }
  }
  /// The closure that `urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)` calls, or nil.
  open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.taskDidSendBodyData }
    set { snapshot.update { $0.taskDidSendBodyData = newValue } }
  }
  /// The closure that `urlSession(_:taskNeedsNewBodyStream:)` calls, or nil.
  open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.taskNeedNewBodyStream }
    set { snapshot.update { $0.taskNeedNewBodyStream = newValue } }
  }
  /// The closure that `urlSession(_:task:willPerformHTTPRedirection:newRequest:)` calls, or nil.
  open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)? {
    get { snapshot.current.closures.taskWillPerformHTTPRedirection }
    set { snapshot.update { $0.taskWillPerformHTTPRedirection = newValue } }
  }
  /// The closure that `urlSession(_:task:didFinishCollecting:)` calls, or nil.
  open var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)? {
    get { snapshot.current.closures.taskDidFinishCollectingMetrics }
    set { snapshot.update { $0.taskDidFinishCollectingMetrics = newValue } }
  }
  /// The closure that `urlSession(_:task:didCompleteWithError:)` calls, or nil.
  open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
    get { snapshot.current.closures.taskDidComplete }
    set { snapshot.update { $0.taskDidComplete = newValue } }
  }
  /// The closure that `urlSession(_:taskIsWaitingForConnectivity:)` calls, or nil.
  open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.taskIsWaitingForConnectivity }
    set { snapshot.update { $0.taskIsWaitingForConnectivity = newValue } }
  }
  /// The closure that `urlSession(_:dataTask:didReceive:)` calls, or nil.
  open var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)? {
    get { snapshot.current.closures.dataTaskDidReceiveResponse }
    set { snapshot.update { $0.dataTaskDidReceiveResponse = newValue } }
  }
  /// The closure that `urlSession(_:dataTask:didReceive:)` calls, or nil.
  open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
    get { snapshot.current.closures.dataTaskDidReceiveData }
    set { snapshot.update { $0.dataTaskDidReceiveData = newValue } }
  }
  /// The closure that `urlSession(_:dataTask:willCacheResponse:)` calls, or nil.
  open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)? {
    get { snapshot.current.closures.dataTaskWillCacheResponse }
    set { snapshot.update { $0.dataTaskWillCacheResponse = newValue } }
  }
  /// The closure that `urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)` calls, or nil.
  open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidResumeAtOffset }
    set { snapshot.update { $0.downloadTaskDidResumeAtOffset = newValue } }
  }
  /// The closure that `urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)` calls, or nil.
  open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidWriteData }
    set { snapshot.update { $0.downloadTaskDidWriteData = newValue } }
  }
  /// The closure that `urlSession(_:downloadTask:didFinishDownloadingTo:)` calls, or nil.
  open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidFinishDownloadingToURL }
    set { snapshot.update { $0.downloadTaskDidFinishDownloadingToURL = newValue } }
  }
  /// The closure that `request(_:didCreateInitialURLRequest:)` calls, or nil.
  open var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidCreateInitialURLRequest }
    set { snapshot.update { $0.requestDidCreateInitialURLRequest = newValue } }
  }
  /// The closure that `request(_:didFailToCreateURLRequestWithError:)` calls, or nil.
  open var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToCreateURLRequestWithError }
    set { snapshot.update { $0.requestDidFailToCreateURLRequestWithError = newValue } }
  }
  /// The closure that `request(_:didAdaptInitialRequest:to:)` calls, or nil.
  open var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidAdaptInitialRequestToAdaptedRequest }
    set { snapshot.update { $0.requestDidAdaptInitialRequestToAdaptedRequest = newValue } }
  }
  /// The closure that `request(_:didFailToAdaptURLRequest:withError:)` calls, or nil.
  open var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToAdaptURLRequestWithError }
    set { snapshot.update { $0.requestDidFailToAdaptURLRequestWithError = newValue } }
  }
  /// The closure that `request(_:didCreateURLRequest:)` calls, or nil.
  open var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidCreateURLRequest }
    set { snapshot.update { $0.requestDidCreateURLRequest = newValue } }
  }
  /// The closure that `request(_:didCreateTask:)` calls, or nil.
  open var requestDidCreateTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidCreateTask }
    set { snapshot.update { $0.requestDidCreateTask = newValue } }
  }
  /// The closure that `request(_:didGatherMetrics:)` calls, or nil.
  open var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)? {
    get { snapshot.current.closures.requestDidGatherMetrics }
    set { snapshot.update { $0.requestDidGatherMetrics = newValue } }
  }
  /// The closure that `request(_:didFailTask:earlyWithError:)` calls, or nil.
  open var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailTaskEarlyWithError }
    set { snapshot.update { $0.requestDidFailTaskEarlyWithError = newValue } }
  }
  /// The closure that `request(_:didCompleteTask:with:)` calls, or nil.
  open var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)? {
    get { snapshot.current.closures.requestDidCompleteTaskWithError }
    set { snapshot.update { $0.requestDidCompleteTaskWithError = newValue } }
  }
  /// The closure that `requestIsRetrying(_:)` calls, or nil.
  open var requestIsRetrying: ((Request) -> Void)? {
    get { snapshot.current.closures.requestIsRetrying }
    set { snapshot.update { $0.requestIsRetrying = newValue } }
  }
  /// The closure that `requestDidFinish(_:)` calls, or nil.
  open var requestDidFinish: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidFinish }
    set { snapshot.update { $0.requestDidFinish = newValue } }
  }
  /// The closure that `requestDidResume(_:)` calls, or nil.
  open var requestDidResume: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidResume }
    set { snapshot.update { $0.requestDidResume = newValue } }
  }
  /// The closure that `request(_:didResumeTask:)` calls, or nil.
  open var requestDidResumeTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidResumeTask }
    set { snapshot.update { $0.requestDidResumeTask = newValue } }
  }
  /// The closure that `requestDidSuspend(_:)` calls, or nil.
  open var requestDidSuspend: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidSuspend }
    set { snapshot.update { $0.requestDidSuspend = newValue } }
  }
  /// The closure that `request(_:didSuspendTask:)` calls, or nil.
  open var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidSuspendTask }
    set { snapshot.update { $0.requestDidSuspendTask = newValue } }
  }
  /// The closure that `requestDidCancel(_:)` calls, or nil.
  open var requestDidCancel: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidCancel }
    set { snapshot.update { $0.requestDidCancel = newValue } }
  }
  /// The closure that `request(_:didCancelTask:)` calls, or nil.
  open var requestDidCancelTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidCancelTask }
    set { snapshot.update { $0.requestDidCancelTask = newValue } }
  }
  /// The closure that `request(_:didValidateRequest:response:data:withResult:)` calls, or nil.
  open var requestDidValidateRequestResponseDataWithResult:
    ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseDataWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseDataWithResult = newValue } }
  }
  /// The closure that `request(_:didParseResponse:)` calls, or nil.
  open var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)? {
    get { snapshot.current.closures.requestDidParseResponse }
    set { snapshot.update { $0.requestDidParseResponse = newValue } }
  }
  /// The closure that `request(_:didValidateRequest:response:withResult:)` calls, or nil.
  open var requestDidValidateRequestResponseWithResult:
    ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseWithResult = newValue } }
  }
  /// The closure that `request(_:didCreateUploadable:)` calls, or nil.
  open var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)? {
    get { snapshot.current.closures.requestDidCreateUploadable }
    set { snapshot.update { $0.requestDidCreateUploadable = newValue } }
  }
  /// The closure that `request(_:didFailToCreateUploadableWithError:)` calls, or nil.
  open var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToCreateUploadableWithError }
    set { snapshot.update { $0.requestDidFailToCreateUploadableWithError = newValue } }
  }
  /// The closure that `request(_:didProvideInputStream:)` calls, or nil.
  open var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)? {
    get { snapshot.current.closures.requestDidProvideInputStream }
    set { snapshot.update { $0.requestDidProvideInputStream = newValue } }
  }
  /// The closure that `request(_:didFinishDownloadingUsing:with:)` calls, or nil.
  open var requestDidFinishDownloadingUsingTaskWithResult:
    ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
  {
    get { snapshot.current.closures.requestDidFinishDownloadingUsingTaskWithResult }
    set { snapshot.update { $0.requestDidFinishDownloadingUsingTaskWithResult = newValue } }
  }
  /// The closure that `request(_:didCreateDestinationURL:)` calls, or nil.
  open var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)? {
    get { snapshot.current.closures.requestDidCreateDestinationURL }
    set { snapshot.update { $0.requestDidCreateDestinationURL = newValue } }
  }
  /// The closure that `request(_:didValidateRequest:response:fileURL:withResult:)` calls, or nil.
  open var requestDidValidateRequestResponseFileURLWithResult:
    ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseFileURLWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseFileURLWithResult = newValue } }
  }
  /// The closure that `request(_:didParseResponse:)` calls, or nil.
  open var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)? {
    get { snapshot.current.closures.requestDidParseDownloadResponse }
    set { snapshot.update { $0.requestDidParseDownloadResponse = newValue } }
  }

  // MARK: The events

  /// Calls ``sessionDidBecomeInvalidWithError``.
  open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    sessionDidBecomeInvalidWithError?(session, error)
  }
  /// Calls ``taskDidReceiveChallenge``.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
    taskDidReceiveChallenge?(session, task, challenge)
  }
  /// Calls ``taskDidSendBodyData``.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend) }
  /// Calls ``taskNeedNewBodyStream``.
  open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
    taskNeedNewBodyStream?(session, task)
  }
  /// Calls ``taskWillPerformHTTPRedirection``.
  open func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) { taskWillPerformHTTPRedirection?(session, task, response, request) }
  /// Calls ``taskDidFinishCollectingMetrics``.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  { taskDidFinishCollectingMetrics?(session, task, metrics) }
  /// Calls ``taskDidComplete``.
  open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    taskDidComplete?(session, task, error)
  }
  /// Calls ``taskIsWaitingForConnectivity``.
  open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    taskIsWaitingForConnectivity?(session, task)
  }
  /// Calls ``dataTaskDidReceiveResponse``.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
    dataTaskDidReceiveResponse?(session, dataTask, response)
  }
  /// Calls ``dataTaskDidReceiveData``.
  open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    dataTaskDidReceiveData?(session, dataTask, data)
  }
  /// Calls ``dataTaskWillCacheResponse``.
  open func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) { dataTaskWillCacheResponse?(session, dataTask, proposedResponse) }
  /// Calls ``downloadTaskDidResumeAtOffset``.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) { downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes) }
  /// Calls ``downloadTaskDidWriteData``.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { downloadTaskDidWriteData?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite) }
  /// Calls ``downloadTaskDidFinishDownloadingToURL``.
  open func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) { downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location) }
  /// Calls ``requestDidCreateInitialURLRequest``.
  open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
    requestDidCreateInitialURLRequest?(request, urlRequest)
  }
  /// Calls ``requestDidFailToCreateURLRequestWithError``.
  open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
    requestDidFailToCreateURLRequestWithError?(request, error)
  }
  /// Calls ``requestDidAdaptInitialRequestToAdaptedRequest``.
  open func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) { requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest) }
  /// Calls ``requestDidFailToAdaptURLRequestWithError``.
  open func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
    requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
  }
  /// Calls ``requestDidCreateURLRequest``.
  open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
    requestDidCreateURLRequest?(request, urlRequest)
  }
  /// Calls ``requestDidCreateTask``.
  open func request(_ request: Request, didCreateTask task: URLSessionTask) { requestDidCreateTask?(request, task) }
  /// Calls ``requestDidGatherMetrics``.
  open func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
    requestDidGatherMetrics?(request, metrics)
  }
  /// Calls ``requestDidFailTaskEarlyWithError``.
  open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    requestDidFailTaskEarlyWithError?(request, task, error)
  }
  /// Calls ``requestDidCompleteTaskWithError``.
  open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
    requestDidCompleteTaskWithError?(request, task, error)
  }
  /// Calls ``requestIsRetrying``.
  open func requestIsRetrying(_ request: Request) { requestIsRetrying?(request) }
  /// Calls ``requestDidFinish``.
  open func requestDidFinish(_ request: Request) { requestDidFinish?(request) }
  /// Calls ``requestDidResume``.
  open func requestDidResume(_ request: Request) { requestDidResume?(request) }
  /// Calls ``requestDidResumeTask``.
  open func request(_ request: Request, didResumeTask task: URLSessionTask) { requestDidResumeTask?(request, task) }
  /// Calls ``requestDidSuspend``.
  open func requestDidSuspend(_ request: Request) { requestDidSuspend?(request) }
  /// Calls ``requestDidSuspendTask``.
  open func request(_ request: Request, didSuspendTask task: URLSessionTask) { requestDidSuspendTask?(request, task) }
  /// Calls ``requestDidCancel``.
  open func requestDidCancel(_ request: Request) { requestDidCancel?(request) }
  /// Calls ``requestDidCancelTask``.
  open func request(_ request: Request, didCancelTask task: URLSessionTask) { requestDidCancelTask?(request, task) }
  /// Calls ``requestDidValidateRequestResponseDataWithResult``.
  open func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result) }
  /// Calls ``requestDidParseResponse``.
  open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
    requestDidParseResponse?(request, response)
  }
  /// Calls ``requestDidValidateRequestResponseWithResult``.
  open func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result) }
  /// Calls ``requestDidCreateUploadable``.
  open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    requestDidCreateUploadable?(request, uploadable)
  }
  /// Calls ``requestDidFailToCreateUploadableWithError``.
  open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
    requestDidFailToCreateUploadableWithError?(request, error)
  }
  /// Calls ``requestDidProvideInputStream``.
  open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    requestDidProvideInputStream?(request, stream)
  }
  /// Calls ``requestDidFinishDownloadingUsingTaskWithResult``.
  open func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) { requestDidFinishDownloadingUsingTaskWithResult?(request, task, result) }
  /// Calls ``requestDidCreateDestinationURL``.
  open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
    requestDidCreateDestinationURL?(request, url)
  }
  /// Calls ``requestDidValidateRequestResponseFileURLWithResult``.
  open func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) { requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result) }
  /// Calls ``requestDidParseDownloadResponse``.
  open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
    requestDidParseDownloadResponse?(request, response)
  }
}
