// `ClosureEventMonitor`: an event monitor that calls closures, in the order of the protocol's methods.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// Calls a closure for each event. Events without a closure are ignored.
///
/// A closure has the parameters of the event's method, and is called on ``queue``. It can be set at any time, and applies from
/// the next event on. A subclass that overrides an event's method must call `super` for the closure to be called.
open class ClosureEventMonitor: EventMonitor, @unchecked Sendable {
  /// The queue on which the closures are called.
  public let queue: DispatchQueue

  private let snapshot = Mutex(EventClosures.Snapshot())

  /// Creates a monitor without closures. `queue` is the queue on which the closures are called; it should be serial.
  public init(queue: DispatchQueue = .main) {
    self.queue = queue
  }

  // MARK: The closures

  /// The closure for `urlSession(_:didBecomeInvalidWithError:)`.
  open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
    get { snapshot.current.closures.sessionDidBecomeInvalidWithError }
    set { snapshot.update { $0.sessionDidBecomeInvalidWithError = newValue } }
  }
  /// The closure for `urlSession(_:task:didReceive:)`.
  open var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)? {
    get { snapshot.current.closures.taskDidReceiveChallenge }
    set { snapshot.update { $0.taskDidReceiveChallenge = newValue } }
  }
  /// The closure for `urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)`.
  open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.taskDidSendBodyData }
    set { snapshot.update { $0.taskDidSendBodyData = newValue } }
  }
  /// The closure for `urlSession(_:taskNeedsNewBodyStream:)`.
  open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.taskNeedNewBodyStream }
    set { snapshot.update { $0.taskNeedNewBodyStream = newValue } }
  }
  /// The closure for `urlSession(_:task:willPerformHTTPRedirection:newRequest:)`.
  open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)? {
    get { snapshot.current.closures.taskWillPerformHTTPRedirection }
    set { snapshot.update { $0.taskWillPerformHTTPRedirection = newValue } }
  }
  /// The closure for `urlSession(_:task:didFinishCollecting:)`.
  open var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)? {
    get { snapshot.current.closures.taskDidFinishCollectingMetrics }
    set { snapshot.update { $0.taskDidFinishCollectingMetrics = newValue } }
  }
  /// The closure for `urlSession(_:task:didCompleteWithError:)`.
  open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
    get { snapshot.current.closures.taskDidComplete }
    set { snapshot.update { $0.taskDidComplete = newValue } }
  }
  /// The closure for `urlSession(_:taskIsWaitingForConnectivity:)`.
  open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.taskIsWaitingForConnectivity }
    set { snapshot.update { $0.taskIsWaitingForConnectivity = newValue } }
  }
  /// The closure for `urlSession(_:dataTask:didReceive:)`.
  open var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)? {
    get { snapshot.current.closures.dataTaskDidReceiveResponse }
    set { snapshot.update { $0.dataTaskDidReceiveResponse = newValue } }
  }
  /// The closure for `urlSession(_:dataTask:didReceive:)`.
  open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
    get { snapshot.current.closures.dataTaskDidReceiveData }
    set { snapshot.update { $0.dataTaskDidReceiveData = newValue } }
  }
  /// The closure for `urlSession(_:dataTask:willCacheResponse:)`.
  open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)? {
    get { snapshot.current.closures.dataTaskWillCacheResponse }
    set { snapshot.update { $0.dataTaskWillCacheResponse = newValue } }
  }
  /// The closure for `urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`.
  open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidResumeAtOffset }
    set { snapshot.update { $0.downloadTaskDidResumeAtOffset = newValue } }
  }
  /// The closure for `urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)`.
  open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidWriteData }
    set { snapshot.update { $0.downloadTaskDidWriteData = newValue } }
  }
  /// The closure for `urlSession(_:downloadTask:didFinishDownloadingTo:)`.
  open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)? {
    get { snapshot.current.closures.downloadTaskDidFinishDownloadingToURL }
    set { snapshot.update { $0.downloadTaskDidFinishDownloadingToURL = newValue } }
  }
  /// The closure for `request(_:didCreateInitialURLRequest:)`.
  open var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidCreateInitialURLRequest }
    set { snapshot.update { $0.requestDidCreateInitialURLRequest = newValue } }
  }
  /// The closure for `request(_:didFailToCreateURLRequestWithError:)`.
  open var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToCreateURLRequestWithError }
    set { snapshot.update { $0.requestDidFailToCreateURLRequestWithError = newValue } }
  }
  /// The closure for `request(_:didAdaptInitialRequest:to:)`.
  open var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidAdaptInitialRequestToAdaptedRequest }
    set { snapshot.update { $0.requestDidAdaptInitialRequestToAdaptedRequest = newValue } }
  }
  /// The closure for `request(_:didFailToAdaptURLRequest:withError:)`.
  open var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToAdaptURLRequestWithError }
    set { snapshot.update { $0.requestDidFailToAdaptURLRequestWithError = newValue } }
  }
  /// The closure for `request(_:didCreateURLRequest:)`.
  open var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)? {
    get { snapshot.current.closures.requestDidCreateURLRequest }
    set { snapshot.update { $0.requestDidCreateURLRequest = newValue } }
  }
  /// The closure for `request(_:didCreateTask:)`.
  open var requestDidCreateTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidCreateTask }
    set { snapshot.update { $0.requestDidCreateTask = newValue } }
  }
  /// The closure for `request(_:didGatherMetrics:)`.
  open var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)? {
    get { snapshot.current.closures.requestDidGatherMetrics }
    set { snapshot.update { $0.requestDidGatherMetrics = newValue } }
  }
  /// The closure for `request(_:didFailTask:earlyWithError:)`.
  open var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailTaskEarlyWithError }
    set { snapshot.update { $0.requestDidFailTaskEarlyWithError = newValue } }
  }
  /// The closure for `request(_:didCompleteTask:with:)`.
  open var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)? {
    get { snapshot.current.closures.requestDidCompleteTaskWithError }
    set { snapshot.update { $0.requestDidCompleteTaskWithError = newValue } }
  }
  /// The closure for `requestIsRetrying(_:)`.
  open var requestIsRetrying: ((Request) -> Void)? {
    get { snapshot.current.closures.requestIsRetrying }
    set { snapshot.update { $0.requestIsRetrying = newValue } }
  }
  /// The closure for `requestDidFinish(_:)`.
  open var requestDidFinish: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidFinish }
    set { snapshot.update { $0.requestDidFinish = newValue } }
  }
  /// The closure for `requestDidResume(_:)`.
  open var requestDidResume: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidResume }
    set { snapshot.update { $0.requestDidResume = newValue } }
  }
  /// The closure for `request(_:didResumeTask:)`.
  open var requestDidResumeTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidResumeTask }
    set { snapshot.update { $0.requestDidResumeTask = newValue } }
  }
  /// The closure for `requestDidSuspend(_:)`.
  open var requestDidSuspend: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidSuspend }
    set { snapshot.update { $0.requestDidSuspend = newValue } }
  }
  /// The closure for `request(_:didSuspendTask:)`.
  open var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidSuspendTask }
    set { snapshot.update { $0.requestDidSuspendTask = newValue } }
  }
  /// The closure for `requestDidCancel(_:)`.
  open var requestDidCancel: ((Request) -> Void)? {
    get { snapshot.current.closures.requestDidCancel }
    set { snapshot.update { $0.requestDidCancel = newValue } }
  }
  /// The closure for `request(_:didCancelTask:)`.
  open var requestDidCancelTask: ((Request, URLSessionTask) -> Void)? {
    get { snapshot.current.closures.requestDidCancelTask }
    set { snapshot.update { $0.requestDidCancelTask = newValue } }
  }
  /// The closure for `request(_:didValidateRequest:response:data:withResult:)`.
  open var requestDidValidateRequestResponseDataWithResult:
    ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseDataWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseDataWithResult = newValue } }
  }
  /// The closure for `request(_:didParseResponse:)`.
  open var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)? {
    get { snapshot.current.closures.requestDidParseResponse }
    set { snapshot.update { $0.requestDidParseResponse = newValue } }
  }
  /// The closure for `request(_:didValidateRequest:response:withResult:)`.
  open var requestDidValidateRequestResponseWithResult:
    ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseWithResult = newValue } }
  }
  /// The closure for `request(_:didCreateUploadable:)`.
  open var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)? {
    get { snapshot.current.closures.requestDidCreateUploadable }
    set { snapshot.update { $0.requestDidCreateUploadable = newValue } }
  }
  /// The closure for `request(_:didFailToCreateUploadableWithError:)`.
  open var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)? {
    get { snapshot.current.closures.requestDidFailToCreateUploadableWithError }
    set { snapshot.update { $0.requestDidFailToCreateUploadableWithError = newValue } }
  }
  /// The closure for `request(_:didProvideInputStream:)`.
  open var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)? {
    get { snapshot.current.closures.requestDidProvideInputStream }
    set { snapshot.update { $0.requestDidProvideInputStream = newValue } }
  }
  /// The closure for `request(_:didFinishDownloadingUsing:with:)`.
  open var requestDidFinishDownloadingUsingTaskWithResult:
    ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
  {
    get { snapshot.current.closures.requestDidFinishDownloadingUsingTaskWithResult }
    set { snapshot.update { $0.requestDidFinishDownloadingUsingTaskWithResult = newValue } }
  }
  /// The closure for `request(_:didCreateDestinationURL:)`.
  open var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)? {
    get { snapshot.current.closures.requestDidCreateDestinationURL }
    set { snapshot.update { $0.requestDidCreateDestinationURL = newValue } }
  }
  /// The closure for `request(_:didValidateRequest:response:fileURL:withResult:)`.
  open var requestDidValidateRequestResponseFileURLWithResult:
    ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
  {
    get { snapshot.current.closures.requestDidValidateRequestResponseFileURLWithResult }
    set { snapshot.update { $0.requestDidValidateRequestResponseFileURLWithResult = newValue } }
  }
  /// The closure for `request(_:didParseResponse:)`.
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
