// `EventClosures`: the closures of a `ClosureEventMonitor`, one for each event.

import Foundation
import LupineURLSession
import Synchronization

// Unchecked because programs may set closures that aren't Sendable. They are called only on the monitor's queue.
/// The closures of a ``ClosureEventMonitor``. Each closure has its event's parameters.
struct EventClosures: @unchecked Sendable {
  // MARK: URLSession's events

  var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?
  var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
  var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
  var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)?
  var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
  var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)?
  var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?
  var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)?
  var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)?
  var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?
  var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?
  var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
  var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
  var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?

  // MARK: Events of every request

  var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)?
  var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)?
  var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)?
  var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)?
  var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)?
  var requestDidCreateTask: ((Request, URLSessionTask) -> Void)?
  var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)?
  var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)?
  var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)?
  var requestIsRetrying: ((Request) -> Void)?
  var requestDidFinish: ((Request) -> Void)?
  var requestDidResume: ((Request) -> Void)?
  var requestDidResumeTask: ((Request, URLSessionTask) -> Void)?
  var requestDidSuspend: ((Request) -> Void)?
  var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)?
  var requestDidCancel: ((Request) -> Void)?
  var requestDidCancelTask: ((Request, URLSessionTask) -> Void)?

  // MARK: Events of data requests

  var requestDidValidateRequestResponseDataWithResult:
    ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
  var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)?

  // MARK: Events of stream requests

  var requestDidValidateRequestResponseWithResult:
    ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?

  // MARK: Events of upload requests

  var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)?
  var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)?
  var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)?

  // MARK: Events of download requests

  var requestDidFinishDownloadingUsingTaskWithResult: ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
  var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)?
  var requestDidValidateRequestResponseFileURLWithResult:
    ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
  var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?
}

extension EventClosures {
  /// An immutable snapshot of a ``ClosureEventMonitor``'s closures. Reading a closure requires only taking the monitor's lock and
  /// retaining one object.
  final class Snapshot: Sendable {
    let closures: EventClosures

    init(_ closures: EventClosures = EventClosures()) {
      self.closures = closures
    }
  }
}

// These two functions aren't inlined, because all of the monitor's properties use them. Inlined, they would double the size of
// the code.
extension Mutex<EventClosures.Snapshot> {
  var current: EventClosures.Snapshot {
    @inline(never) get { withLock { $0 } }
  }

  @inline(never)
  func update(_ change: (inout EventClosures) -> Void) {
    // The old closures are released outside the lock, because a deinitializer may use the monitor.
    _ = withLock { snapshot in
      let old = snapshot
      var closures = old.closures
      change(&closures)
      snapshot = EventClosures.Snapshot(closures)
      return old
    }
  }
}
