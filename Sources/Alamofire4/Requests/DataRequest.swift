// DataRequest and UploadRequest: requests whose response body is collected in memory.

public import Dispatch
public import Foundation
public import LupineURLSession

// Unchecked because the superclass is. All state is constant.
/// A request whose response body is collected in memory.
open class DataRequest: Request, @unchecked Sendable {
  let dataDelegate: DataTaskDelegate

  init(session: URLSession, source: TaskSource?, task: URLSessionTask?, error: (any Error)? = nil) {
    dataDelegate = DataTaskDelegate(error: error)
    super.init(session: session, source: source, task: task, delegate: dataDelegate)
  }

  /// The `URLRequest` of the request's latest task. If no task exists because the adapter failed, the original `URLRequest`.
  open override var request: URLRequest? { super.request ?? source?.request }

  /// The progress of receiving the response body.
  open var progress: Progress { dataDelegate.downloadProgress.progress }

  /// Sets the closure that is called with the progress of receiving the response body, on the main queue by default. If
  /// bytes have already been transferred, the closure is called with the current progress.
  @discardableResult
  open func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    dataDelegate.downloadProgress.call(on: queue, closure)
    return self
  }

  /// Passes each part of the response body to `closure` as it arrives, instead of collecting the body in memory. The closure is
  /// called on the session's delegate queue.
  @discardableResult
  open func stream(closure: ((Data) -> Void)? = nil) -> Self {
    dataDelegate.stream(to: closure)
    return self
  }
}

// Unchecked because the superclass is. All state is constant.
/// A request that sends a request body from memory, a file or a stream.
open class UploadRequest: DataRequest, @unchecked Sendable {
  /// The progress of sending the request body.
  open var uploadProgress: Progress { dataDelegate.uploadProgress.progress }

  /// Sets the closure that is called with the progress of sending the request body, on the main queue by default. If
  /// bytes have already been transferred, the closure is called with the current progress.
  @discardableResult
  open func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    dataDelegate.uploadProgress.call(on: queue, closure)
    return self
  }
}
