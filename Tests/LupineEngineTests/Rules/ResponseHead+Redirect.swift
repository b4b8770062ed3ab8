// ResponseHead+Redirect: heads of redirects.

import LupineWire

extension ResponseHead {
  /// Returns the parsed head of a redirect response, whose Location field is `location`, or absent if that is nil.
  static func redirect(_ status: Int = 302, to location: String?) throws -> ResponseHead {
    let field = location.map { "Location: \($0)\r\n" } ?? ""
    let text = "HTTP/1.1 \(status) X\r\n\(field)Content-Length: 0\r\n\r\n"
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    let bytes = Array(text.utf8)
    guard case .head(let head, _, _) = try connection.receive(bytes.span, at: &cursor) else {
      throw WireError.truncatedHead(received: bytes.count)
    }
    return head
  }
}
