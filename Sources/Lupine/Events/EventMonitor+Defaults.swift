// EventMonitor+Defaults: the default implementations of `EventMonitor`, which ignore each event.

public import Foundation
public import LupineURLSession

extension EventMonitor {
  /// The queue on which the monitor's methods are called: by default, the main queue.
  public var queue: DispatchQueue { .main }

  // MARK: URLSession's events

  /// Called when the `URLSession` has been invalidated. Does nothing by default.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
  /// Called when a server or a proxy requires a credential, or when a server requests a client certificate. Does nothing by
  /// default.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  {}
  /// Called when part of the request body has been sent. Does nothing by default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {}
  /// Called when an upload task needs the stream from which it sends its request body. Does nothing by default.
  public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {}
  /// Called when a server redirects the request. Does nothing by default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) {}
  /// Called when the task's metrics are available. Does nothing by default.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {}
  /// Called when the task has ended. Does nothing by default.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
  /// Called when a task begins to wait for a network. Does nothing by default.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
  /// Called when the head of the response has arrived. Does nothing by default.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {}
  /// Called when a piece of the response body has arrived. Does nothing by default.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
  /// Called when a response has arrived completely and can be stored in the cache. Does nothing by default.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) {}
  /// Called when a download has been resumed. Does nothing by default.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}
  /// Called when part of a download has been written to its file. Does nothing by default.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}
  /// Called when a download has been written completely to a temporary file. Does nothing by default.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {}

  // MARK: Events of every request

  /// Called when a `URLRequest` has been created, before adapters run. Does nothing by default.
  public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {}
  /// Called when a `URLRequest` could not be created. Does nothing by default.
  public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {}
  /// Called when the adapters have returned the `URLRequest` to send, whether or not they changed it. Does nothing by default.
  public func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) {}
  /// Called when an adapter has failed. Does nothing by default.
  public func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  {}
  /// Called when the `URLRequest` to send is final. Does nothing by default.
  public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {}
  /// Called when the task that sends the request has been created. Does nothing by default.
  public func request(_ request: Request, didCreateTask task: URLSessionTask) {}
  /// Called when the request has received the task's metrics. Does nothing by default.
  public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {}
  /// Called when the request fails before its task has ended, because the server isn't trusted or a stream handler threw an error.
  /// Does nothing by default.
  public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {}
  /// Called when the task has ended and its response has been validated. Does nothing by default.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {}
  /// Called before the request is retried. Does nothing by default.
  public func requestIsRetrying(_ request: Request) {}
  /// Called when the request has finished and won't be retried, before its response handlers run. Does nothing by default.
  public func requestDidFinish(_ request: Request) {}
  /// Called when the request has been resumed. Does nothing by default.
  public func requestDidResume(_ request: Request) {}
  /// Called when the request's task has been resumed. Does nothing by default.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {}
  /// Called when the request has been suspended. Does nothing by default.
  public func requestDidSuspend(_ request: Request) {}
  /// Called when the request's task has been suspended. Does nothing by default.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {}
  /// Called when the request has been cancelled. Does nothing by default.
  public func requestDidCancel(_ request: Request) {}
  /// Called when the request's task has been cancelled. Does nothing by default.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {}

  // MARK: Events of data requests

  /// Called when a validation has accepted or rejected the response of a data request. Does nothing by default.
  public func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) {}
  /// Called before the response of a data request is passed to a handler that has no serializer. Does nothing by default.
  public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {}
  /// Called when the response body has been serialized for a response handler, before the handler is called. Does nothing by
  /// default.
  public func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
  {}

  // MARK: Events of stream requests

  /// Called when a validation has accepted or rejected the response of a stream request. Does nothing by default.
  public func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {}
  /// Called when a piece of the response body has been serialized for a stream handler, before the handler is called. Does nothing
  /// by default.
  public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {}

  // MARK: Events of upload requests

  /// Called when the body of the upload has been created. Does nothing by default.
  public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {}
  /// Called when the body of the upload could not be created. Does nothing by default.
  public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {}
  /// Called when the stream of the request body is passed to the task. Does nothing by default.
  public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {}

  // MARK: Events of download requests

  /// Called when the downloaded file has been moved to its destination, or could not be moved. Does nothing by default.
  public func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {}
  /// Called when the destination of the downloaded file has been chosen, before the file is moved. Does nothing by default.
  public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {}
  /// Called when a validation has accepted or rejected the response of a download. Does nothing by default.
  public func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) {}
  /// Called before the response of a download is passed to a handler that has no serializer. Does nothing by default.
  public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {}
  /// Called when the downloaded file has been serialized for a response handler, before the handler is called. Does nothing by
  /// default.
  public func request<Value: Sendable>(
    _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
  ) {}
}
