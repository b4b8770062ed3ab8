// DispatchQueue+Alamofire: serial queues that target other queues.

import Foundation

extension DispatchQueue {
  /// This queue if it is the main queue. Otherwise, a new serial queue that targets this queue, which may be concurrent.
  var serialized: DispatchQueue {
    // Compares labels instead of objects, because `DispatchQueue.main` returns a different object at each access on Linux.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
