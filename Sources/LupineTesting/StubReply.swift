// StubReply: what a rule answers.

public import Foundation

/// An answer to a request: a response, whole or cut, or an error.
public struct StubReply: Sendable {
  /// How the answer ends.
  enum Ending: Sendable {
    case complete
    case failure(any Error)
  }

  /// The status code.
  public var status: Int
  /// The header fields by name.
  public var headerFields: [String: String]
  /// The body.
  public var body: Data
  /// The time before the answer. None by default.
  public var delay = Duration.zero
  /// The number of parts in which the body is delivered, 1 by default. Parts have the same length, but for the last one.
  public var pieceCount = 1
  var ending = Ending.complete
  var hasResponse = true

  /// Creates an answer.
  public init(status: Int = 200, headerFields: [String: String] = [:], body: Data = Data()) {
    self.status = status
    self.headerFields = headerFields
    self.body = body
  }

  /// A response without a body.
  public static func status(_ status: Int) -> StubReply { StubReply(status: status) }

  /// A response with text.
  public static func text(_ text: String, status: Int = 200) -> StubReply {
    StubReply(status: status, headerFields: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
  }

  /// A response with JSON.
  public static func json(_ json: String, status: Int = 200) -> StubReply {
    StubReply(status: status, headerFields: ["Content-Type": "application/json"], body: Data(json.utf8))
  }

  /// A response with a value as JSON. Throws the encoder's error.
  public static func json(
    encoding value: some Encodable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()
  ) throws -> StubReply {
    StubReply(
      status: status, headerFields: ["Content-Type": "application/json"], body: try encoder.encode(value))
  }

  /// A redirect.
  public static func redirect(to url: String, status: Int = 302) -> StubReply {
    StubReply(status: status, headerFields: ["Location": url])
  }

  /// No response, but an error, with which the task fails.
  public static func error(_ error: any Error) -> StubReply {
    var reply = StubReply()
    (reply.hasResponse, reply.ending) = (false, .failure(error))
    return reply
  }

  /// No response: the connection is lost (`URLError.networkConnectionLost`).
  public static var reset: StubReply { .error(URLError(.networkConnectionLost)) }

  /// Cuts the body: after so many bytes, the connection is lost (`URLError.networkConnectionLost`).
  public func cut(afterByteCount byteCount: Int) -> StubReply {
    var reply = self
    reply.body = body.prefix(max(0, byteCount))
    reply.ending = .failure(URLError(.networkConnectionLost))
    return reply
  }

  /// Delays the answer.
  public func delayed(by delay: Duration) -> StubReply {
    var reply = self
    reply.delay = delay
    return reply
  }

  /// Delivers the body in parts.
  public func inPieces(_ count: Int) -> StubReply {
    var reply = self
    reply.pieceCount = count
    return reply
  }

  /// The parts of the body.
  var pieces: [Data] {
    let byteCount = (body.count + max(1, pieceCount) - 1) / max(1, pieceCount)
    guard byteCount > 0 else { return [] }
    return stride(from: body.startIndex, to: body.endIndex, by: byteCount).map { start in
      Data(body[start..<min(start + byteCount, body.endIndex)])
    }
  }
}
