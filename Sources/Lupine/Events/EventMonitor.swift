// `EventMonitor`: observes requests and their tasks.

public import Foundation
import LupineURLSession

/// A type that observes requests and their tasks, for example to log them. Every method has a default implementation that does
/// nothing.
///
/// ```swift
/// struct Log: EventMonitor {
///   func requestDidFinish(_ request: Request) { print(request) }
/// }
///
/// let session = Session(eventMonitors: [Log()])
/// ```
///
/// Methods are called on ``queue``, in the order of the events.
public protocol EventMonitor: Sendable {
  /// The queue on which the monitor's methods are called. The main queue by default. A custom queue should be serial.
  var queue: DispatchQueue { get }

  // MARK: URLSession's events, only for a session's monitors

  /// Called when the `URLSession` has been invalidated.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
  /// Called when a server or a proxy requires a credential, or when a server requests a client certificate.
  func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  /// Called when part of the request body has been sent. The counts are in bytes. The expected total is -1 if the length of the
  /// body is unknown.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  /// Called when an upload task needs the stream from which it sends its request body.
  func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)
  /// Called when a server redirects the request to another URL.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest)
  /// Called when the task's metrics are available.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  /// Called when the task has ended.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
  /// Called when a task begins to wait for a network. See ``URLSessionConfiguration/waitsForConnectivity``.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
  /// Called when the head of the response has arrived.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)
  /// Called when a piece of the response body has arrived.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
  /// Called when a response has arrived completely and can be stored in the cache.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)
  /// Called when a download has been resumed at an offset. The offset and the expected total are in bytes.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
  /// Called when part of a download has been written to its file. The counts are in bytes. The expected total is -1 if the length
  /// of the file is unknown.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
  /// Called when a download has been written completely to a temporary file.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

  // MARK: Events of every request

  /// Called when a `URLRequest` has been created, before adapters run.
  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
  /// Called when the `URLRequest` of a request could not be created.
  func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
  /// Called when the adapters have returned the `URLRequest` to send, whether or not they changed it.
  func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
  /// Called when an adapter has failed to adapt the `URLRequest`.
  func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  /// Called when the `URLRequest` to send is final: after the adapters have run and before the task is created.
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
  /// Called when the task that sends the request has been created.
  func request(_ request: Request, didCreateTask task: URLSessionTask)
  /// Called when the request has received the task's metrics.
  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)
  /// Called when the request fails before its task has ended, because the server isn't trusted or a stream handler threw an
  /// error.
  func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
  /// Called when the task has ended and its response has been validated. `error` is the error of the task, such as a transfer
  /// error. A validation error isn't passed, because it is an error of the request.
  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
  /// Called before the request is retried.
  func requestIsRetrying(_ request: Request)
  /// Called when the request has finished and won't be retried, before its response handlers run.
  func requestDidFinish(_ request: Request)
  /// Called when the request has been resumed.
  func requestDidResume(_ request: Request)
  /// Called when the request's task has been resumed.
  func request(_ request: Request, didResumeTask task: URLSessionTask)
  /// Called when the request has been suspended.
  func requestDidSuspend(_ request: Request)
  /// Called when the request's task has been suspended.
  func request(_ request: Request, didSuspendTask task: URLSessionTask)
  /// Called when the request has been cancelled.
  func requestDidCancel(_ request: Request)
  /// Called when the request's task has been cancelled.
  func request(_ request: Request, didCancelTask task: URLSessionTask)

  // MARK: Events of data requests

  /// Called each time that one of the validations has accepted or rejected the response of a data request.
  func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult)
  /// Called before the response of a data request is passed to a handler that has no serializer.
  func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
  /// Called when the response body has been serialized for a response handler, before the handler is called.
  func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

  // MARK: Events of stream requests

  /// Called each time that one of the validations has accepted or rejected the response of a stream request.
  func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult)
  /// Called when a piece of the response body has been serialized for a stream handler, before the handler is called.
  func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

  // MARK: Events of upload requests

  /// Called when the body of the upload has been created.
  func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
  /// Called when the body of the upload could not be created.
  func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
  /// Called when the stream of the request body is passed to the task.
  func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

  // MARK: Events of download requests

  /// Called when the downloaded file has been moved to its destination, or when moving the file has failed.
  func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)
  /// Called when the destination of the downloaded file has been chosen, before the file is moved.
  func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
  /// Called each time that one of the validations has accepted or rejected the response of a download.
  func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult)
  /// Called before the response of a download is passed to a handler that has no serializer.
  func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
  /// Called when the downloaded file has been serialized for a response handler, before the handler is called.
  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
}
