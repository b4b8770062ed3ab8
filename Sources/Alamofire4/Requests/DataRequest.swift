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

  /// The `URLRequest` of the latest task. If the adapter failed and no task exists, the original `URLRequest`.
  open override var request: URLRequest? { super.request ?? source?.request }

  /// The progress of the response's body.
  open var progress: Progress { dataDelegate.downloadProgress.progress }

  /// Calls a closure with the progress of the response's body, on the main queue by default.
  @discardableResult
  open func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    dataDelegate.downloadProgress.call(on: queue, closure)
    return self
  }

  /// Passes each part of the response's body to a closure as it arrives, instead of collecting the body. Calls the closure on the
  /// session's delegate queue.
  @discardableResult
  open func stream(closure: ((Data) -> Void)? = nil) -> Self {
    dataDelegate.stream(to: closure)
    return self
  }
}

// Unchecked because the superclass is. All state is constant.
/// A request that sends a body from memory, from a file or from a stream.
open class UploadRequest: DataRequest, @unchecked Sendable {
  /// The progress of the request's body.
  open var uploadProgress: Progress { dataDelegate.uploadProgress.progress }

  /// Calls a closure with the progress of the request's body, on the main queue by default.
  @discardableResult
  open func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    dataDelegate.uploadProgress.call(on: queue, closure)
    return self
  }
}
