// OperationQueue+Serial: operation queues on top of serial dispatch queues.

package import Foundation

extension OperationQueue {
  /// Creates an operation queue that runs its operations on a serial dispatch queue.
  package convenience init(serial queue: DispatchQueue) {
    self.init()
    maxConcurrentOperationCount = 1
    underlyingQueue = queue
    name = queue.label
  }
}
