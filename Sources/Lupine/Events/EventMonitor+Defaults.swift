// EventMonitor+Defaults: the default implementations of `EventMonitor`, which ignore each event.

public import Foundation
public import LupineURLSession

extension EventMonitor {
  /// The queue on which the monitor's methods are called: by default, the main queue.
  public var queue: DispatchQueue { .main }

  // MARK: URLSession's events

  /// The default implementation, which does nothing when the `URLSession` has been invalidated.
  public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
  /// The default implementation, which does nothing when a server or a proxy requires a credential, or when a server requests a
  /// client certificate.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  {}
  /// The default implementation, which does nothing when part of the request body has been sent.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {}
  /// The default implementation, which does nothing when an upload task needs the stream from which it sends its request body.
  public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {}
  /// The default implementation, which does nothing when a server redirects the request.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) {}
  /// The default implementation, which does nothing when the task's metrics are available.
  public func urlSession(
    _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
  ) {}
  /// The default implementation, which does nothing when the task has ended.
  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
  /// The default implementation, which does nothing when a task begins to wait for a network.
  public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
  /// The default implementation, which does nothing when the head of the response has arrived.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {}
  /// The default implementation, which does nothing when a piece of the response body has arrived.
  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
  /// The default implementation, which does nothing when a response has arrived completely and can be stored in the cache.
  public func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) {}
  /// The default implementation, which does nothing when a download has been resumed.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64
  ) {}
  /// The default implementation, which does nothing when part of a download has been written to its file.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {}
  /// The default implementation, which does nothing when a download has been written completely to a temporary file.
  public func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {}

  // MARK: Events of every request

  /// The default implementation, which does nothing when a `URLRequest` has been created, before adapters run.
  public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {}
  /// The default implementation, which does nothing when a `URLRequest` could not be created.
  public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {}
  /// The default implementation, which does nothing when the adapters have returned the `URLRequest` to send, whether or not they
  /// changed it.
  public func request(
    _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
  ) {}
  /// The default implementation, which does nothing when an adapter has failed.
  public func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  {}
  /// The default implementation, which does nothing when the `URLRequest` to send is final.
  public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {}
  /// The default implementation, which does nothing when the task that sends the request has been created.
  public func request(_ request: Request, didCreateTask task: URLSessionTask) {}
  /// The default implementation, which does nothing when the request has received the task's metrics.
  public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {}
  /// The default implementation, which does nothing when the request fails before its task has ended, because the server isn't
  /// trusted or a stream handler threw an error.
  public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {}
  /// The default implementation, which does nothing when the task has ended and its response has been validated.
  public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {}
  /// The default implementation, which does nothing before the request is retried.
  public func requestIsRetrying(_ request: Request) {}
  /// The default implementation, which does nothing when the request has finished and won't be retried, before its response
  /// handlers run.
  public func requestDidFinish(_ request: Request) {}
  /// The default implementation, which does nothing when the request has been resumed.
  public func requestDidResume(_ request: Request) {}
  /// The default implementation, which does nothing when the request's task has been resumed.
  public func request(_ request: Request, didResumeTask task: URLSessionTask) {}
  /// The default implementation, which does nothing when the request has been suspended.
  public func requestDidSuspend(_ request: Request) {}
  /// The default implementation, which does nothing when the request's task has been suspended.
  public func request(_ request: Request, didSuspendTask task: URLSessionTask) {}
  /// The default implementation, which does nothing when the request has been cancelled.
  public func requestDidCancel(_ request: Request) {}
  /// The default implementation, which does nothing when the request's task has been cancelled.
  public func request(_ request: Request, didCancelTask task: URLSessionTask) {}

  // MARK: Events of data requests

  /// The default implementation, which does nothing when a validation has accepted or rejected the response of a data request.
  public func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult
  ) {}
  /// The default implementation, which does nothing before the response of a data request is passed to a handler that has no
  /// serializer.
  public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {}
  /// The default implementation, which does nothing when the response body has been serialized for a response handler, before the
  /// handler is called.
  public func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)
  {}

  // MARK: Events of stream requests

  /// The default implementation, which does nothing when a validation has accepted or rejected the response of a stream request.
  public func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {}
  /// The default implementation, which does nothing when a piece of the response body has been serialized for a stream handler,
  /// before the handler is called.
  public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {}

  // MARK: Events of upload requests

  /// The default implementation, which does nothing when the body of the upload has been created.
  public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {}
  /// The default implementation, which does nothing when the body of the upload could not be created.
  public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {}
  /// The default implementation, which does nothing when the stream of the request body is passed to the task.
  public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {}

  // MARK: Events of download requests

  /// The default implementation, which does nothing when the downloaded file has been moved to its destination, or could not be
  /// moved.
  public func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
  ) {}
  /// The default implementation, which does nothing when the destination of the downloaded file has been chosen, before the file is
  /// moved.
  public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {}
  /// The default implementation, which does nothing when a validation has accepted or rejected the response of a download.
  public func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult
  ) {}
  /// The default implementation, which does nothing before the response of a download is passed to a handler that has no
  /// serializer.
  public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {}
  /// The default implementation, which does nothing when the downloaded file has been serialized for a response handler, before the
  /// handler is called.
  public func request<Value: Sendable>(
    _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
  ) {}
}
