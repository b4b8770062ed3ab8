// StubReply: the response or error with which a stub answers a request.

public import Foundation

/// The reply that stubs give to a request: a response, a truncated response, or an error.
public struct StubReply: Sendable {
  /// The way in which a reply ends: after the complete body, or with an error.
  enum Ending: Sendable {
    case complete
    case failure(any Error)
  }

  /// The status code of the reply's response. 200 by default.
  public var status: Int
  /// The values of the reply's header fields, keyed by name. None by default.
  public var headerFields: [String: String]
  /// The body of the reply's response. Empty by default.
  public var body: Data
  /// The time between the request and the beginning of the reply. Zero by default.
  public var delay = Duration.zero
  /// The number of parts in which the task receives the body of the reply. 1 by default. The parts have the same length, except for
  /// the last one.
  public var pieceCount = 1
  var ending = Ending.complete
  var hasResponse = true
  /// The connection that replaces the body, or nil if this is an HTTP response.
  var webSocket: WebSocket?

  struct WebSocket: Sendable {
    let subprotocol: String?
    let serve: @Sendable (StubSocket) async -> Void
  }

  /// Creates a reply with a complete response.
  public init(status: Int = 200, headerFields: [String: String] = [:], body: Data = Data()) {
    self.status = status
    self.headerFields = headerFields
    self.body = body
  }

  /// A reply with the given status code and without a body.
  public static func status(_ status: Int) -> StubReply { StubReply(status: status) }

  /// A reply with a plain text body in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> StubReply {
    StubReply(status: status, headerFields: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
  }

  /// A reply with a JSON body.
  public static func json(_ json: String, status: Int = 200) -> StubReply {
    StubReply(status: status, headerFields: ["Content-Type": "application/json"], body: Data(json.utf8))
  }

  /// A reply whose body is a value encoded as JSON. Throws the encoder's error.
  public static func json(
    encoding value: some Encodable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()
  ) throws -> StubReply {
    StubReply(
      status: status, headerFields: ["Content-Type": "application/json"], body: try encoder.encode(value))
  }

  /// A reply that redirects to a URL. The session handles it in the same way as a redirect from a server.
  public static func redirect(to url: String, status: Int = 302) -> StubReply {
    StubReply(status: status, headerFields: ["Location": url])
  }

  /// A reply that accepts a WebSocket connection. Other requests get the status 426 (Upgrade Required).
  ///
  /// ```swift
  /// stubs.reply(to: .get("/chat"), with: .webSocket { socket in
  ///   for await message in socket.messages { socket.send(message) }
  /// })
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: The subprotocol that the stub chooses, or nil for none. The client fails if it hasn't offered the subprotocol.
  ///   - serve: Exchanges messages with the client. Called in a new task. When it returns, the connection is closed with the code
  ///     1000, unless it was closed before.
  public static func webSocket(
    protocol: String? = nil, serve: @escaping @Sendable (StubSocket) async -> Void
  ) -> StubReply {
    var reply = StubReply(status: 426, headerFields: ["Upgrade": "websocket", "Connection": "Upgrade"])
    reply.webSocket = WebSocket(subprotocol: `protocol`, serve: serve)
    return reply
  }

  /// A reply without a response: the task fails with `error`.
  public static func error(_ error: any Error) -> StubReply {
    var reply = StubReply()
    (reply.hasResponse, reply.ending) = (false, .failure(error))
    return reply
  }

  /// A reply without a response, as if the connection were lost: the task fails with `URLError.networkConnectionLost`.
  public static var reset: StubReply { .error(URLError(.networkConnectionLost)) }

  /// Returns a copy of the reply with a truncated body. After `byteCount` bytes of the body have been delivered, the task fails
  /// with `URLError.networkConnectionLost`.
  public func cut(afterByteCount byteCount: Int) -> StubReply {
    var reply = self
    reply.body = body.prefix(max(0, byteCount))
    reply.ending = .failure(URLError(.networkConnectionLost))
    return reply
  }

  /// Returns a copy of the reply that begins only after a delay.
  public func delayed(by delay: Duration) -> StubReply {
    var reply = self
    reply.delay = delay
    return reply
  }

  /// Returns a copy of the reply that delivers its body in `count` parts.
  public func inPieces(_ count: Int) -> StubReply {
    var reply = self
    reply.pieceCount = count
    return reply
  }

  /// The parts in which the task receives the body of the reply, in order.
  var pieces: [Data] {
    let byteCount = (body.count + max(1, pieceCount) - 1) / max(1, pieceCount)
    guard byteCount > 0 else { return [] }
    return stride(from: body.startIndex, to: body.endIndex, by: byteCount).map { start in
      Data(body[start..<min(start + byteCount, body.endIndex)])
    }
  }
}
