// Reply: the response of a well-behaved server, which Peer+Responses.swift serializes.

package import LupineCoding
package import LupineWire

/// A response that a server's handler returns for a request, or the decision to send none.
package struct Reply: Sendable {
  /// The body of a response and the way in which it is framed.
  package enum Content: Sendable {
    /// The body consists of these bytes, and is sent with Content-Length.
    case bytes([UInt8])
    /// The server applies the content coding to these bytes, and sends the body with Content-Encoding and Content-Length.
    case coded([UInt8], ContentCoding)
    /// The body is sent in these chunks, with the chunked transfer coding. Each chunk is sent after the kernel has accepted the
    /// previous chunk and `pause` has passed.
    case chunks([[UInt8]], pause: Duration)
    /// The body consists of the first `byteCount` bytes of `Pattern`. It is generated while it is sent, with Content-Length.
    case pattern(byteCount: UInt64)
    /// The server sends no response, and waits until the client closes the connection.
    case hold
  }

  package var status: Int
  package var fields: Fields
  package var content: Content

  /// Creates a reply to a request. The server adds Content-Length, Content-Encoding and Transfer-Encoding when it sends the reply.
  /// With "Connection: close" in `fields`, the server closes the connection afterward.
  package init(status: Int = 200, fields: Fields = Fields(), _ content: Content = .bytes([])) {
    self.status = status
    self.fields = fields
    self.content = content
  }

  /// Returns a reply whose body is `text`, encoded as UTF-8.
  package static func text(_ text: String, status: Int = 200) -> Reply {
    Reply(status: status, fields: ["Content-Type": "text/plain; charset=utf-8"], .bytes(Array(text.utf8)))
  }

  /// Returns a reply whose body is a JSON document, to which the server applies `coding` unless it is nil.
  package static func json(_ document: JSONValue, status: Int = 200, coding: ContentCoding? = nil) -> Reply {
    let bytes = Array(document.description.utf8)
    return Reply(
      status: status, fields: ["Content-Type": "application/json"], coding.map { .coded(bytes, $0) } ?? .bytes(bytes))
  }

  /// A reply with `Content.hold`: the server sends no response.
  package static var hold: Reply { Reply(.hold) }
}

/// An unlimited sequence of bytes for response bodies. Each byte is computed from its offset, so that tests notice lost, duplicated
/// or reordered bytes.
package enum Pattern {
  // The period is a prime number, so that blocks whose sizes are powers of two differ from each other.
  private static let period = 251

  /// Returns the byte at an offset of the sequence. The sequence has a period of 251 bytes.
  package static func byte(at offset: UInt64) -> UInt8 { UInt8(offset % UInt64(period)) }

  /// Returns the bytes at a range of offsets of the sequence.
  package static func bytes(_ offsets: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(offsets.count)
    while bytes.count < offsets.count {
      bytes += block[((offsets.lowerBound + bytes.count) % block.count)...].prefix(offsets.count - bytes.count)
    }
    return bytes
  }

  /// The bytes that the server passes to each write: 64,256 bytes. This is a multiple of the sequence's period, so that the same
  /// block can be sent repeatedly.
  static let block = (0..<256 * period).map { UInt8($0 % period) }
}
