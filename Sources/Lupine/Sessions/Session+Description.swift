// The description of a session.

import Foundation
import LupineURLSession
import Synchronization

extension Session: CustomStringConvertible {
  /// The number of active requests, and the label of the root queue.
  public var description: String {
    let requests = ReadableText.count(activeRequests.withLock { $0.members.count }, "active request")
    return "\(type(of: self))(\(requests), root queue: \(rootQueue.label))"
  }
}
