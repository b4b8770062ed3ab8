// Peer+WebSocket: the server's side of the opening handshake of WebSocket (RFC 6455 §4.2). The handlers send and read frames.

internal import LupineTLS
package import LupineWire

extension Peer {
  /// Answers a request that offers WebSocket with 101 (Switching Protocols). Sends `bytes` together with the response.
  ///
  /// - Parameters:
  ///   - request: The request with the client's key.
  ///   - fields: Further fields of the response, such as a subprotocol.
  ///   - bytes: The first bytes after the response, such as frames.
  fileprivate func acceptWebSocket(
    _ request: ReceivedRequest, fields: Fields = Fields(), then bytes: [UInt8] = []
  ) throws {
    let key = request.fields.first("Sec-WebSocket-Key") ?? ""
    let hash = MessageDigest.sha1.hash(Array((key + Self.webSocketSuffix).utf8)) ?? []
    var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    text += "Sec-WebSocket-Accept: \(Base64.encode(hash))\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    try send(Array((text + "\r\n").utf8) + bytes)
  }

  /// The text that is appended to the client's key before it is hashed (RFC 6455 §1.3).
  private static let webSocketSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
}

/// Frames on a server's connection.
package final class ServerSocket {
  package let request: ReceivedRequest
  private let peer: Peer
  private var unread: [UInt8] = []

  /// Reads a request and switches to WebSocket. Returns nil if there is no request.
  package convenience init?(_ peer: Peer, fields: Fields = Fields(), then frames: [ServerFrame] = []) throws {
    guard let request = try peer.readHead() else { return nil }
    try self.init(peer, answering: request, fields: fields, then: frames)
  }

  /// Switches to WebSocket in response to a request.
  package init(
    _ peer: Peer, answering request: ReceivedRequest, fields: Fields = Fields(), then frames: [ServerFrame] = []
  ) throws {
    try peer.acceptWebSocket(request, fields: fields, then: frames.flatMap(\.bytes))
    self.request = request
    self.peer = peer
  }

  /// Sends frames, which may break any rule.
  package func send(_ frames: ServerFrame...) throws { try peer.send(frames.flatMap(\.bytes)) }

  /// Waits for the client's next frame. Returns nil if the client has closed its side.
  package func next() throws -> ServerFrame? {
    while true {
      if let frame = ServerFrame.remove(from: &unread) { return frame }
      let bytes = try peer.receive()
      if bytes.isEmpty { return nil }
      unread += bytes
    }
  }

  /// Returns each message to the client, answers a Close frame, and closes the connection.
  package func echo() throws {
    while let frame = try next() {
      switch frame.opcode {
      case 8:
        try send(ServerFrame(8, frame.payload))
        peer.close()
        return
      case 9: try send(ServerFrame(10, frame.payload))
      case 10: break
      default:
        try send(
          ServerFrame(frame.opcode, frame.payload, isFinal: frame.isFinal, reservedBits: frame.reservedBits))
      }
    }
  }
}
