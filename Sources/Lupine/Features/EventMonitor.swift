// Who is told what becomes of requests, step by step.

public import Foundation
import LupineURLSession

/// Is told what becomes of requests and their tasks. Every method has a default that does nothing.
///
/// The calls come on `queue`, in the order in which things happen.
public protocol EventMonitor: Sendable {
  /// Where the monitor is called; the main queue by default. Should be serial.
  var queue: DispatchQueue { get }

  // MARK: URLSession's events, for a session's monitors only

  /// The session was invalidated.
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
  /// The server asks for a credential.
  func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)
  /// A part of the body was sent; counts in bytes, the expected one -1 if it isn't known.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  /// A streamed body is read from its start.
  func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)
  /// The server redirects.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest)
  /// The task was measured.
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  /// The task has ended.
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
  /// The task waits for a network; the engine never does.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
  /// The response's head came.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)
  /// A piece of the body came.
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
  /// The response is complete and might be stored.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)
  /// A download goes on where an earlier one had stopped; counts in bytes.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
    expectedTotalBytes: Int64)
  /// A part of a download was written; counts in bytes, the expected one -1 if it isn't known.
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
  /// A download is complete in a temporary file.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

  // MARK: Events of every request

  /// A `URLRequest` was made; adapters follow.
  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)
  /// No `URLRequest` could be made.
  func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)
  /// The adapters have made another `URLRequest` of it.
  func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)
  /// An adapter has failed.
  func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)
  /// The `URLRequest` is final.
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)
  /// The task was made.
  func request(_ request: Request, didCreateTask task: URLSessionTask)
  /// The request has the task's measurements.
  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)
  /// The task failed before it ended of itself.
  func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)
  /// The task has ended, with its own error if it has failed, and its response was validated; what a validation says is
  /// the request's error, not the task's.
  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)
  /// Another round begins.
  func requestIsRetrying(_ request: Request)
  /// No more rounds; response handlers follow.
  func requestDidFinish(_ request: Request)
  /// The request was resumed.
  func requestDidResume(_ request: Request)
  /// The task was resumed with it.
  func request(_ request: Request, didResumeTask task: URLSessionTask)
  /// The request was suspended.
  func requestDidSuspend(_ request: Request)
  /// The task was suspended with it.
  func request(_ request: Request, didSuspendTask task: URLSessionTask)
  /// The request was cancelled.
  func requestDidCancel(_ request: Request)
  /// The task was cancelled with it.
  func request(_ request: Request, didCancelTask task: URLSessionTask)

  // MARK: Events of data requests

  /// A validation has looked at the response.
  func request(
    _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
    withResult result: Request.ValidationResult)
  /// The body was taken as it is.
  func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)
  /// The body was serialised.
  func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

  // MARK: Events of stream requests

  /// A validation has looked at the response.
  func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult)
  /// A piece of the body was serialised.
  func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

  // MARK: Events of upload requests

  /// The body is ready.
  func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
  /// The body couldn't be made ready.
  func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
  /// The body's stream was handed over.
  func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

  // MARK: Events of download requests

  /// The file stands where it was wanted, or couldn't be moved there.
  func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)
  /// It was said where the file is wanted.
  func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
  /// A validation has looked at the response.
  func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult)
  /// The file was taken as it is.
  func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
  /// The file was serialised.
  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
}
