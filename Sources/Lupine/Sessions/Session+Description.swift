// The description of a session.

import Foundation
import LupineURLSession
import Synchronization

extension Session: CustomStringConvertible {
  /// How many requests are under way, and the queue on which they do their work.
  public var description: String {
    let requests = ReadableText.count(activeRequests.withLock { $0.members.count }, "active request")
    return "\(type(of: self))(\(requests), root queue: \(rootQueue.label))"
  }
}
