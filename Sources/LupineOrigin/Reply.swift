// Reply: the response of a well-behaved server, which Peer+Responses.swift serializes.

package import LupineCoding
package import LupineWire

/// A response to a request, or the decision to send none.
package struct Reply: Sendable {
  /// The body of a response and its framing.
  package enum Content: Sendable {
    /// Bytes with Content-Length.
    case bytes([UInt8])
    /// Bytes that are encoded with a content coding and sent with Content-Encoding and Content-Length.
    case coded([UInt8], ContentCoding)
    /// Chunks. Each is sent after the kernel has accepted the previous one and `pause` has passed.
    case chunks([[UInt8]], pause: Duration)
    /// `byteCount` bytes of `Pattern` with Content-Length, generated while they are sent.
    case pattern(byteCount: UInt64)
    /// No response. Nothing is sent until the client closes the connection.
    case hold
  }

  package var status: Int
  package var fields: Fields
  package var content: Content

  /// Creates a reply. Content-Length, Content-Encoding and Transfer-Encoding are added when it is sent. With
  /// "Connection: close" in `fields`, the server closes the connection afterward.
  package init(status: Int = 200, fields: Fields = Fields(), _ content: Content = .bytes([])) {
    self.status = status
    self.fields = fields
    self.content = content
  }

  /// Returns a reply with text, encoded as UTF-8.
  package static func text(_ text: String, status: Int = 200) -> Reply {
    Reply(status: status, fields: ["Content-Type": "text/plain; charset=utf-8"], .bytes(Array(text.utf8)))
  }

  /// Returns a reply with a JSON document, with a content coding if one is given.
  package static func json(_ document: JSONValue, status: Int = 200, coding: ContentCoding? = nil) -> Reply {
    let bytes = Array(document.description.utf8)
    return Reply(
      status: status, fields: ["Content-Type": "application/json"], coding.map { .coded(bytes, $0) } ?? .bytes(bytes))
  }

  /// A reply with `Content.hold`.
  package static var hold: Reply { Reply(.hold) }
}

/// A sequence of bytes in which each byte depends on its offset, so that tests notice lost, duplicated or reordered bytes.
package enum Pattern {
  // The period is a prime number, so that blocks whose sizes are powers of two differ from each other.
  private static let period = 251

  /// Returns the byte at an offset.
  package static func byte(at offset: UInt64) -> UInt8 { UInt8(offset % UInt64(period)) }

  /// The bytes sent per write: 64,256 bytes. This is a multiple of the period, so that the same block can be sent repeatedly.
  static let block = (0..<256 * period).map { UInt8($0 % period) }
}
