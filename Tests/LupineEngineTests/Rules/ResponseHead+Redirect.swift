// ResponseHead+Redirect: heads of redirects.

import LupineWire

extension ResponseHead {
  /// Returns the parsed head of a redirect response, whose Location field is `location`, or absent if that is nil.
  static func redirect(_ status: Int = 302, to location: String?) throws -> ResponseHead {
    try redirect(status, toBytes: location.map { Array($0.utf8) })
  }

  /// Returns the parsed head of a redirect response, whose Location field has the value `location`, which may be in any charset.
  static func redirect(_ status: Int = 302, toBytes location: [UInt8]?) throws -> ResponseHead {
    let field = location.map { Array("Location: ".utf8) + $0 + Array("\r\n".utf8) } ?? []
    let bytes = Array("HTTP/1.1 \(status) X\r\n".utf8) + field + Array("Content-Length: 0\r\n\r\n".utf8)
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    guard case .head(let head, _, _) = try connection.receive(bytes.span, at: &cursor) else {
      throw WireError.truncatedHead(received: bytes.count)
    }
    return head
  }
}
