// The description of a session.

import Foundation
import LupineURLSession
import Synchronization

extension Session: CustomStringConvertible {
  /// A textual description: the session's type, the number of its active requests, and the label of its root queue.
  public var description: String {
    let requests = ReadableText.count(activeRequests.withLock { $0.members.count }, "active request")
    return "\(type(of: self))(\(requests), root queue: \(rootQueue.label))"
  }
}
