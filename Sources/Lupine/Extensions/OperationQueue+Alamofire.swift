// Operation queues that use dispatch queues.

import Foundation

extension OperationQueue {
  /// Creates an operation queue that runs its operations on a serial dispatch queue.
  convenience init(serial queue: DispatchQueue) {
    self.init()
    maxConcurrentOperationCount = 1
    underlyingQueue = queue
    name = queue.label
  }
}
