// KeepAliveFieldTests: the limits in the Keep-Alive field of responses (RFC 2068 §19.7.1.1).

import LupineWire
import Testing

@Suite("The Keep-Alive field")
struct KeepAliveFieldTests {
  /// The lines of Keep-Alive fields, the number of seconds that they announce, and whether they refuse another request.
  static let vectors: [(lines: [String], seconds: UInt64?, refusesReuse: Bool)] = [
    ([], nil, false),
    ([""], nil, false),
    (["timeout=5"], 5, false),
    (["timeout=5, max=100"], 5, false),
    (["max=100, timeout=5"], 5, false),
    (["TIMEOUT=5,Max=100"], 5, false),
    ([" timeout\t=  5 ,, \tmax = 1 "], 5, false),
    (["timeout=005"], 5, false),
    (["timeout=18446744073709551615"], UInt64.max, false),
    (["max=100"], nil, false),
    (["header=timeout, timeout=7, x"], 7, false),
    // The lowest value applies.
    (["timeout=15, timeout=5, timeout=30"], 5, false),
    (["timeout=15", "timeout=5", "max=3"], 5, false),
    (["timeout=0"], 0, true),
    (["timeout=5, timeout=0"], 0, true),
    (["max=0"], nil, true),
    (["timeout=5, max=00"], 5, true),
    (["max=0, max=5"], nil, true),
    // Malformed values and other parameters are ignored.
    (["5"], nil, false),
    (["timeout"], nil, false),
    (["timeout="], nil, false),
    (["timeout=\"5\""], nil, false),
    (["timeout=\"\""], nil, false),
    (["timeout=\"5"], nil, false),
    (["timeout=-1"], nil, false),
    (["timeout=+1"], nil, false),
    (["timeout=1.5"], nil, false),
    (["timeout=2s"], nil, false),
    (["timeout=0x0"], nil, false),
    (["timeout=5; max=0"], nil, false),
    (["timeout=5 max=0"], nil, false),
    (["timeout==5"], nil, false),
    (["=5"], nil, false),
    (["timeout=18446744073709551616"], nil, false),
    (["timeout=\u{B2}"], nil, false),
    (["x-timeout=0, timeouts=0, maximum=0, ma=0"], nil, false),
    (["timeout=x, timeout=5"], 5, false),
  ]

  @Test("the lowest valid timeout in the Keep-Alive field applies, and a timeout or max of 0 prevents reuse")
  func limits() throws {
    for (lines, seconds, refusesReuse) in Self.vectors {
      let fields = lines.map { "Keep-Alive: \($0)\r\n" }.joined()
      let result = try Self.result("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n")
      #expect(result.seconds == seconds, "\(lines)")
      let close: CloseReason? = refusesReuse ? .keepAliveLimit : nil
      #expect(result.close == close, "\(lines)")
    }
  }

  @Test("only a field named Keep-Alive limits the connection")
  func otherFields() throws {
    for name in ["Set-Cookie", "Connection", "Keep_Alive", "Proxy-Keep-Alive", "Keep-Alives"] {
      let result = try Self.result("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(name): timeout=0, max=0\r\n\r\n")
      #expect(result.seconds == nil && result.close == nil, "\(name)")
    }
  }

  @Test("the limits of a Keep-Alive field apply until the connection's next request")
  func nextRequest() throws {
    var connection = ClientConnection(limits: Limits())
    for (field, expected) in [("Keep-Alive: timeout=5\r\n", 5), ("", nil)] as [(String, UInt64?)] {
      connection.start(method: "GET", closes: false)
      let before = connection.keepAliveSeconds
      #expect(before == nil)
      connection.requestSent()
      _ = try Self.end(of: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(field)\r\n", on: &connection)
      let seconds = connection.keepAliveSeconds
      #expect(seconds == expected)
    }
  }

  private static func result(_ response: String) throws -> (seconds: UInt64?, close: CloseReason?) {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    connection.requestSent()
    let close = try end(of: response, on: &connection)
    return (connection.keepAliveSeconds, close)
  }

  private static func end(of response: String, on connection: inout ClientConnection) throws -> CloseReason? {
    let bytes = response.latin1
    var cursor = 0
    while true {
      switch try connection.receive(bytes.span, at: &cursor) {
      case .end(_, let close): return close
      case .needMoreBytes: throw WireError.truncatedHead(received: bytes.count)
      case .informational, .head, .body, .handedOver: break
      }
    }
  }
}
