// What a well-behaved server answers; Peer+Responses.swift puts it onto the wire.

package import LupineCoding
package import LupineWire

/// A response, or none.
package struct Reply: Sendable {
  /// What the response carries, and how.
  package enum Content: Sendable {
    /// With Content-Length.
    case bytes([UInt8])
    /// In a content coding, with Content-Encoding and Content-Length.
    case coded([UInt8], ContentCoding)
    /// Chunked: each piece is sent when the kernel has taken the one before and `pause` has passed.
    case chunks([[UInt8]], pause: Duration)
    /// That many bytes of `Pattern`, made as they are sent, with Content-Length.
    case pattern(byteCount: UInt64)
    /// Nothing is sent, not even a head, until the client closes the connection.
    case hold
  }

  package var status: Int
  package var fields: Fields
  package var content: Content

  /// Creates a reply. Content-Length, Content-Encoding and Transfer-Encoding are added when it is sent; with
  /// "Connection: close" among the fields the connection is closed afterwards.
  package init(status: Int = 200, fields: Fields = Fields(), _ content: Content = .bytes([])) {
    self.status = status
    self.fields = fields
    self.content = content
  }

  /// Text as UTF-8.
  package static func text(_ text: String, status: Int = 200) -> Reply {
    Reply(status: status, fields: ["Content-Type": "text/plain; charset=utf-8"], .bytes(Array(text.utf8)))
  }

  /// A JSON document, coded if a coding is given.
  package static func json(_ document: JSONValue, status: Int = 200, coding: ContentCoding? = nil) -> Reply {
    let bytes = Array(document.description.utf8)
    return Reply(
      status: status, fields: ["Content-Type": "application/json"], coding.map { .coded(bytes, $0) } ?? .bytes(bytes))
  }

  /// See `Content.hold`.
  package static var hold: Reply { Reply(.hold) }
}

/// Bytes of which each tells its place, so that lost, doubled or moved ones are noticed.
package enum Pattern {
  // A prime, so that pieces cut at powers of two differ.
  private static let period = 251

  /// The byte at that place.
  package static func byte(at offset: UInt64) -> UInt8 { UInt8(offset % UInt64(period)) }

  /// What is sent at once: 64,256 bytes, a multiple of the period, so that every piece begins alike.
  static let block = (0..<256 * period).map { UInt8($0 % period) }
}
