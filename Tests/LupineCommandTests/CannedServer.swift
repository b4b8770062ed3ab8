// CannedServer: a server that sends fixed bytes on each connection and records the requests, for misbehaving replies.

import Foundation
import LupineEngine
import LupineLoopback
import Synchronization

/// A server on a free port of 127.0.0.1 that sends fixed replies. It listens until this object is deallocated.
final class CannedServer: Sendable {
  let port: UInt16
  private let listener: Socket
  private let received: Received

  var url: String { "http://127.0.0.1:\(port)" }
  /// The requests that the server has received so far, as text.
  var requests: [String] { received.requests.withLock { $0 } }

  struct CannotListen: Error {}

  private final class Received: Sendable {
    let requests = Mutex<[String]>([])
  }

  /// Creates a server that accepts one connection per reply, in order. From each connection it reads one request, sends the reply
  /// and closes.
  ///
  /// - Parameters:
  ///   - isDeaf: Whether the server never accepts connections and its backlog has no room.
  ///   - cue: If set, the server replies as soon as it has received this text, even if the request isn't complete.
  convenience init(replies: [String], isDeaf: Bool = false, answersAfter cue: String? = nil) throws {
    var condition: (@Sendable (String) -> Bool)?
    if let cue { condition = { $0.contains(cue) } }
    try self.init(Socket.listenOnLoopback(backlog: isDeaf ? 0 : 16), replies, answersWhen: condition)
  }

  /// Creates a server that sends the replies on an abstract Unix socket instead of a port.
  convenience init(abstractName: String, replies: [String]) throws {
    guard let address = SocketAddress(socketPath: "@\(abstractName)") else { throw CannotListen() }
    try self.init(Socket.listen(on: address, backlog: 16), replies, answersWhen: nil)
  }

  private init(
    _ listener: Socket, _ replies: [String], answersWhen condition: (@Sendable (String) -> Bool)?
  ) throws {
    let received = Received()
    self.listener = listener
    self.received = received
    port = listener.localAddress?.port ?? 0
    try LupineEngine.Thread.start(name: "canned-server") {
      for reply in replies {
        guard let connection = try? listener.accept() else { return }
        let request = Self.readRequest(connection, until: condition)
        received.requests.withLock { $0.append(request) }
        // The client may have closed the connection, as some tests expect.
        try? connection.sendAll(reply.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
      }
    }
  }

  deinit {
    listener.shutdownBoth()
  }

  // Reads up to the end of the body according to Content-Length, or the last chunk.
  private static func readRequest(_ connection: Socket, until condition: ((String) -> Bool)?) -> String {
    var bytes: [UInt8] = []
    while !isComplete(bytes, condition) {
      guard let piece = try? connection.receive(), !piece.isEmpty else { break }
      bytes += piece
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isComplete(_ bytes: [UInt8], _ condition: ((String) -> Bool)?) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    if let condition { return condition(text) }
    if text.contains("Transfer-Encoding: chunked\r\n") { return text.hasSuffix("\r\n0\r\n\r\n") }
    guard let end = text.range(of: "\r\n\r\n") else { return false }
    let length = text.range(of: "Content-Length: ").flatMap { range in
      Int(text[range.upperBound...].utf8.prefix { $0 != 13 }.map { String(UnicodeScalar($0)) }.joined())
    }
    return text[end.upperBound...].utf8.count >= length ?? 0
  }
}
