// Serial queues that target other queues.

import Foundation

extension DispatchQueue {
  /// The queue itself if it is the main queue; otherwise a serial queue that targets it.
  var serialized: DispatchQueue {
    // Compares labels, not objects: on Linux, `DispatchQueue.main` returns another object at each access.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
