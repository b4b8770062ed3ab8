// Serial queues in front of others.

import Foundation

extension DispatchQueue {
  /// The queue itself if it is the main queue, otherwise a serial one in front of it.
  var serialized: DispatchQueue {
    // Not compared by ===: on Linux the main queue is another object at each access.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
