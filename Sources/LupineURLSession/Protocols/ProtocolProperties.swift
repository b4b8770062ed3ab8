// ProtocolProperties: values that a URLProtocol attaches to a request, such as a mark that it has seen it.

import Foundation

// Unchecked because the values may be of any type. They are read and written only by URLProtocol's class methods, and the
// protocol that attaches a value decides on its type.
/// The values attached to a request, by key. Immutable.
final class ProtocolProperties: @unchecked Sendable {
  let values: [String: Any]

  init(_ values: [String: Any]) { self.values = values }
}
