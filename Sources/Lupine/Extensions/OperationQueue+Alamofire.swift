// Operation queues upon dispatch queues.

import Foundation

extension OperationQueue {
  /// An operation queue that is another name for a serial dispatch queue.
  convenience init(serial queue: DispatchQueue) {
    self.init()
    maxConcurrentOperationCount = 1
    underlyingQueue = queue
    name = queue.label
  }
}
