// DispatchQueue+Alamofire: a serial queue that targets another queue.

import Foundation

extension DispatchQueue {
  /// A serial queue for the work of this queue, which may be concurrent: this queue itself if it is the main queue, otherwise a new
  /// queue that targets it.
  var serialized: DispatchQueue {
    // Compares labels instead of objects, because `DispatchQueue.main` returns a different object at each access on Linux.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
