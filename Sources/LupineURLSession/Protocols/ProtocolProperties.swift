// ProtocolProperties: the values that a URLProtocol attaches to a request, such as a mark that it has already handled the
// request.

import Foundation

// Unchecked because the values may be of any type. Only URLProtocol's class methods read and write them, and the URL protocol that
// attaches a value chooses its type.
/// The values that a ``URLProtocol`` has attached to a request, by key. The object is immutable.
final class ProtocolProperties: @unchecked Sendable {
  let values: [String: Any]

  init(_ values: [String: Any]) { self.values = values }
}
