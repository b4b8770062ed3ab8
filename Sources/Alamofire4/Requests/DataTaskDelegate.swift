// DataTaskDelegate: the body and the progress of a data request or an upload.

import Foundation
import LupineURLSession
import Synchronization

// Unchecked because the superclass is. All state is constant or in the Mutex.
/// Collects the response body of a data request or an upload, or passes the body to a closure.
final class DataTaskDelegate: TaskDelegate, @unchecked Sendable {
  private struct Body {
    var collected = CollectedBody()
    var byteCount: Int64 = 0
    /// The closure that receives the parts of the response body, or nil to collect them.
    var stream: Transferred<(Data) -> Void>?
  }

  let downloadProgress = TransferProgress()
  let uploadProgress = TransferProgress()
  private let body = Mutex(Body())

  override var data: Data? { body.withLock { $0.stream == nil ? $0.collected.data : nil } }

  /// Passes the rest of the response body to `closure` instead of collecting it. If `closure` is nil, collects the body again.
  func stream(to closure: ((Data) -> Void)?) {
    let stream = closure.map { Transferred($0) }
    // The previous closure is released outside the lock, because the deinitializer of an object that it owns may use the request.
    withExtendedLifetime(body.withLock { exchange(&$0.stream, with: stream) }) {}
  }

  override func reset() {
    super.reset()
    body.withLock { body in (body.collected, body.byteCount) = (CollectedBody(), 0) }
  }

  /// Returns whether the declared length of a body in memory exceeds the session's limit, and stores the error for that.
  func refuses(_ response: URLResponse, of task: URLSessionDataTask, within limit: CollectedBodyLimit?) -> Bool {
    guard body.withLock({ $0.stream == nil }), let refusal = limit?.refusal(of: response, to: task.currentRequest)
    else {
      return false
    }
    error = refusal
    return true
  }

  func receive(_ data: Data, from task: URLSessionDataTask, within limit: CollectedBodyLimit?) {
    let (stream, byteCount, excess) = body.withLock {
      body -> (Transferred<(Data) -> Void>?, Int64, CollectedBodyLimit?) in
      body.byteCount += Int64(data.count)
      let excess = body.stream == nil ? body.collected.append(data, within: limit) : nil
      return (body.stream, body.byteCount, excess)
    }
    if let excess {
      error = excess.excess(at: task.currentRequest?.url)
      return task.cancel()
    }
    stream?.value(data)
    let total = task.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown
    downloadProgress.update(completed: byteCount, total: total)
  }
}
