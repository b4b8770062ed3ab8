// ClientConnectionTests: one connection over several exchanges: reuse, the end of the request, and unexpected bytes.

import LupineWire
import Testing

@Suite("ClientConnection")
struct ClientConnectionTests {
  private let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".latin1

  @Test("a new client connection is idle, and produces no events")
  func fresh() throws {
    var connection = ClientConnection(limits: Limits())
    var cursor = 0
    expectIdle(connection, true)
    guard case .needMoreBytes = try connection.receive([UInt8]().span, at: &cursor) else {
      Issue.record("an event without any bytes")
      return
    }
    connection.start(method: "GET", closes: false)
    expectIdle(connection, false)
  }

  @Test("a connection carries over no parsing state from one request to the next")
  func reuse() throws {
    var connection = ClientConnection(limits: .with { $0.informationalMax = 1 })
    let wires = [
      ("HEAD", "HTTP/1.1 100\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ""),
      ("GET", "HTTP/1.1 100\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"),
      ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n", "a"),
      ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n", "b"),
      ("DELETE", "HTTP/1.1 204\r\n\r\n", ""),
    ]
    for (method, wire, expected) in wires {
      connection.start(method: method, closes: false)
      connection.requestSent()
      let (body, close) = try read(wire.latin1, &connection)
      #expect(String(decoding: body, as: UTF8.self) == expected)
      #expect(close == nil)
      expectIdle(connection, true)
    }
  }

  @Test("the client doesn't reuse a connection after a request with Connection: close")
  func clientCloses() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: true)
    connection.requestSent()
    try expectClose(.clientAskedForClose, reading: response, &connection)
    expectIdle(connection, false)
  }

  @Test("the client closes a connection if the response ends before the request was completely sent")
  func requestUnfinished() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "POST", closes: false)
    try expectClose(.requestUnfinished, reading: response, &connection)
    expectIdle(connection, false)
  }

  @Test(
    "a connection isn't reused after an incompletely sent request, even if the previous request was sent completely")
  func requestSentIsForgotten() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    connection.requestSent()
    try expectClose(nil, reading: response, &connection)
    connection.start(method: "POST", closes: false)
    try expectClose(.requestUnfinished, reading: response, &connection)
  }

  @Test("a connection is kept alive if the request is completely sent before its response ends")
  func sentMeanwhile() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "POST", closes: false)
    var cursor = 0
    guard case .head = try connection.receive(response.span, at: &cursor) else {
      Issue.record("no head was received")
      return
    }
    connection.requestSent()
    let rest = Array(response[cursor...])
    try expectClose(nil, reading: rest, &connection)
  }

  @Test("bytes on an idle connection cause an error, both before the first request and after a response")
  func unsolicited() throws {
    var fresh = ClientConnection(limits: Limits())
    expectError(.unsolicitedBytes(count: response.count), response, &fresh)
    expectIdle(fresh, false)

    var used = ClientConnection(limits: Limits())
    used.start(method: "GET", closes: false)
    used.requestSent()
    _ = try read(response, &used)
    expectError(.unsolicitedBytes(count: 1), [0x0A], &used)
    expectIdle(used, false)
  }

  @Test("after a parsing error on a connection, every later call throws the same error")
  func finalError() {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    expectError(.malformedStatusLine(offset: 8), "HTTP/1.1 0\r\n".latin1 + response, &connection)
    expectError(.unsolicitedBytes(count: response.count), response, &connection)
    expectIdle(connection, false)
    expectNothingTruncated(&connection)
  }

  @Test("if the peer closes an idle connection, the next response fails as a head truncated after 0 bytes")
  func closeWhileIdle() {
    var connection = ClientConnection(limits: Limits())
    expectNothingTruncated(&connection)
    expectIdle(connection, false)
  }

  @Test("if the connection ends after the last byte of the response's body, the response is complete")
  func closeBehindBody() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    connection.requestSent()
    var cursor = 0
    while cursor < response.count { _ = try connection.receive(response.span, at: &cursor) }
    guard case .end(_, .closedByPeer) = try connection.receiveEnd() else {
      Issue.record("the response has no end")
      return
    }
    expectIdle(connection, false)
  }

  @Test("the parser counts the byte range of a body from the start of the received bytes, not from the end of the head")
  func bodyRanges() throws {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    guard case .head(let head, .length(2), []) = try connection.receive(response.span, at: &cursor),
      case .body(let range) = try connection.receive(response.span, at: &cursor)
    else {
      Issue.record("the head and the body were not received")
      return
    }
    #expect(head.byteCount == response.count - 2)
    #expect(range == response.count - 2..<response.count)
  }

  private func read(
    _ bytes: [UInt8], _ connection: inout ClientConnection
  ) throws -> (body: [UInt8], close: CloseReason?) {
    var (cursor, body): (Int, [UInt8]) = (0, [])
    while true {
      switch try connection.receive(bytes.span, at: &cursor) {
      case .needMoreBytes: throw WireError.truncatedBody(missing: nil)
      case .body(let range): body += bytes[range]
      case .end(_, let close): return (body, close)
      case .informational, .head: break
      case .handedOver: throw WireError.unexpectedUpgrade
      }
    }
  }

  // These functions exist because #expect can't evaluate an expression with a noncopyable value. They copy the property first.
  private func expectIdle(
    _ connection: borrowing ClientConnection, _ expected: Bool, at location: SourceLocation = #_sourceLocation
  ) {
    let isIdle = connection.isIdle
    #expect(isIdle == expected, sourceLocation: location)
  }

  private func expectClose(
    _ expected: CloseReason?, reading bytes: [UInt8], _ connection: inout ClientConnection,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let close = try read(bytes, &connection).close
    #expect(close == expected, sourceLocation: location)
  }

  private func expectNothingTruncated(
    _ connection: inout ClientConnection, at location: SourceLocation = #_sourceLocation
  ) {
    do throws(WireError) {
      _ = try connection.receiveEnd()
      Issue.record("the close was taken for the end of a response", sourceLocation: location)
    } catch {
      #expect(error == .truncatedHead(received: 0), sourceLocation: location)
    }
  }

  private func expectError(_ expected: WireError, _ bytes: [UInt8], _ connection: inout ClientConnection) {
    var cursor = 0
    do throws(WireError) {
      _ = try connection.receive(bytes.span, at: &cursor)
      Issue.record("the connection accepted the bytes")
    } catch {
      #expect(error == expected)
    }
  }
}
