// StreamingServer: the server's side of the streaming calls' tests.

import LupineEngine
import LupineOrigin
import LupineWire
import Testing

extension Peer {
  /// Sends the chunks of the request whose head was read last back as they arrive, and its trailer section at the end.
  func echoChunks() throws {
    try beginChunked()
    var decoder = ChunkedDecoder(limits: Limits())
    while true {
      let bytes = try receive()
      guard !bytes.isEmpty else { return }
      var cursor = 0
      decoding: while true {
        switch try decoder.next(bytes.span, at: &cursor) {
        case .needMoreBytes: break decoding
        case .data(let range): try chunk(Array(bytes[range]))
        case .end(let trailers): return try endChunked(trailers: trailers)
        }
      }
    }
  }
}

/// Creates a server that sends these bytes as the response to each request, and then closes the connection.
func rawServer(_ response: String) throws -> OriginServer {
  try OriginServer { peer in
    guard try peer.readRequest() != nil else { return }
    try peer.send(response)
    peer.finishSending()
    _ = try peer.awaitClose()
  }
}

/// Creates a server that passes each connection to `handler` after it has read the head of the request.
func streamingServer(_ handler: @escaping @Sendable (Peer, ReceivedRequest) throws -> Void) throws -> OriginServer {
  try OriginServer { peer in
    while let request = try peer.readHead() { try handler(peer, request) }
  }
}

extension Engine {
  /// Sends a request to `path` of the server, and collects the response with the scoped call.
  func answer(
    _ server: OriginServer, _ path: String = "/", method: String = "GET", fields: Fields = Fields(),
    body: StreamingBody? = nil, redirects: RedirectRule? = RedirectRule()
  ) async throws -> (head: ResponseHead, text: String, trailers: Fields) {
    let request = EngineRequest(method: method, uri: try URI("\(server.url)\(path)"), fields: fields)
    return try await execute(request, body: body, redirects: redirects) { head, reader in
      let (bytes, trailers) = try await reader.collect()
      return (head, String(decoding: bytes, as: UTF8.self), trailers)
    }
  }
}

/// Returns a body that consists of one text.
func textBody(_ text: String, byteCount: UInt64? = nil) -> StreamingBody {
  .restartable(byteCount: byteCount) { writer in
    var writer = writer
    try await writer.write(Array(text.utf8))
  }
}
