// Peer+Responses: sends well-formed responses (RFC 9112 §4, §6), and serves requests in a loop.

internal import LupineCoding
internal import LupineReactor
package import LupineWire

extension Peer {
  /// Sends a response with Content-Length. Omits the body in a response to HEAD, and with the status 204 or 304.
  ///
  /// Throws `OriginError.invalidResponse` if the status or a field isn't valid in a response head.
  package func respond(status: Int = 200, fields: Fields = Fields(), body: [UInt8] = []) throws {
    let isBodiless = lastMethod == "HEAD" || status == 204 || status == 304
    var fields = fields
    // A 204 must not have a Content-Length (RFC 9110 §8.6). In a 304, the value would have to be the length of the body of the
    // 200 response.
    if status != 204, status != 304, !fields.contains("content-length") {
      fields.append(name: "Content-Length", value: String(body.count))
    }
    try send(head(status, fields) + (isBodiless ? [] : body))
  }

  /// Sends the head of a response whose body uses the chunked transfer coding.
  package func beginChunked(status: Int = 200, fields: Fields = Fields()) throws {
    var fields = fields
    fields.append(name: "Transfer-Encoding", value: "chunked")
    try send(head(status, fields))
  }

  /// Sends `bytes` as a chunk. Sends nothing if `bytes` is empty, because an empty chunk would end the body.
  package func chunk(_ bytes: [UInt8]) throws {
    var output: [UInt8] = []
    ChunkedEncoder.append(bytes.span, to: &output)
    try send(output)
  }

  /// Sends the text's UTF-8 bytes as a chunk.
  package func chunk(_ text: String) throws {
    try chunk(Array(text.utf8))
  }

  /// Sends the last chunk and the trailer section, which end a chunked response.
  package func endChunked(trailers: Fields = Fields()) throws {
    try send(Array("0\r\n".utf8) + lines(trailers))
  }

  /// Responds to each request with the result of `reply`, until the client or a reply closes the connection. Responds with 400 to
  /// malformed requests, and with 500 if `reply` throws.
  package func serve(_ reply: (ReceivedRequest) throws -> Reply) throws {
    while let request = try readOrRefuse() {
      let answer: Reply
      do {
        answer = try reply(request)
      } catch {
        answer = .text("\(error)", status: 500)
      }
      try send(answer, to: request)
      if case .hold = answer.content { return }
      if !request.isPersistent || answer.fields.hasElement("close", in: "connection") { return }
    }
  }

  /// Sends a reply in the form that the request's method and HTTP version require. If the reply is `.hold`, sends nothing, and
  /// returns when the client has closed the connection.
  package func send(_ reply: Reply, to request: ReceivedRequest) throws {
    var fields = reply.fields
    if request.minorVersion == 0, request.isPersistent { fields.append(name: "Connection", value: "keep-alive") }
    switch reply.content {
    case .bytes(let bytes):
      try respond(status: reply.status, fields: fields, body: bytes)
    case .coded(let bytes, let coding):
      fields.append(name: "Content-Encoding", value: coding.name)
      try respond(status: reply.status, fields: fields, body: ContentEncoder.encode(bytes, as: coding))
    case .chunks(let chunks, _) where request.minorVersion == 0:
      // HTTP/1.0 clients don't understand the chunked coding (RFC 9112 §6.1).
      try respond(status: reply.status, fields: fields, body: Array(chunks.joined()))
    case .chunks(let chunks, let pause):
      try beginChunked(status: reply.status, fields: fields)
      if request.method == "HEAD" { return }
      for (index, bytes) in chunks.enumerated() {
        if index > 0, pause > .zero { try self.pause(for: pause) }
        try chunk(bytes)
      }
      try endChunked()
    case .pattern(let byteCount):
      fields.append(name: "Content-Length", value: String(byteCount))
      try send(head(reply.status, fields))
      if request.method != "HEAD" { try sendPattern(byteCount) }
    case .hold:
      _ = try awaitClose()
    }
  }

  private func sendPattern(_ byteCount: UInt64) throws {
    var left = byteCount
    while left >= UInt64(Pattern.block.count) {
      try send(Pattern.block)
      left -= UInt64(Pattern.block.count)
    }
    if left > 0 { try send(Array(Pattern.block[..<Int(left)])) }
  }

  private func readOrRefuse() throws -> ReceivedRequest? {
    do {
      return try readRequest()
    } catch  where error is WireError || (error as? OriginError)?.isClientsFault == true {
      try respond(status: 400, fields: ["Connection": "close"], body: Array("\(error)\n".utf8))
      // Closing the connection with unread bytes would cause a reset, which could discard the response.
      finishSending()
      _ = try awaitClose()
      return nil
    }
  }

  // status-line = HTTP-version SP status-code SP [ reason-phrase ] (9112 §4)
  private func head(_ status: Int, _ fields: Fields) throws(OriginError) -> [UInt8] {
    guard 100...999 ~= status else { throw .invalidResponse("The status \(status)") }
    return Array("HTTP/1.1 \(status) \r\n".utf8) + (try lines(fields))
  }

  private func lines(_ fields: Fields) throws(OriginError) -> [UInt8] {
    var output: [UInt8] = []
    for field in fields {
      let line = Array("\(field.name): \(field.value)".utf8)
      guard !line.contains(where: { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }) else {
        throw .invalidResponse("The field \(field.name)")
      }
      output += line + Array("\r\n".utf8)
    }
    return output + Array("\r\n".utf8)
  }
}
