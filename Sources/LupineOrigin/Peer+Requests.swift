// Peer+Requests: reads the head and the body of requests (RFC 9112 §3, §6.3).

internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// The maximum size in bytes of a request body, because `readRequest` stores the whole body in memory: 256 MiB, more than any test
/// sends.
private let requestBodyBytesMax = 256 * 1024 * 1024

extension Peer {
  /// Reads a request with its body. Returns nil if the client has closed the connection instead of sending a request.
  ///
  /// Sends 100 Continue if the client expects it. Throws `WireError` or `OriginError` for a malformed request.
  package func readRequest() throws -> ReceivedRequest? {
    guard var request = try readHead() else { return nil }
    if request.expectsContinue { try send("HTTP/1.1 100 Continue\r\n\r\n") }
    try readBody(of: &request)
    return request
  }

  /// Reads the head of the client's next request, without the body. Returns nil if the client has closed the connection instead of
  /// sending a request.
  package func readHead() throws -> ReceivedRequest? {
    var parser = SectionParser(.request, limits: Limits())
    var raw: [UInt8] = []
    while true {
      if raw.isEmpty { skipEmptyLines() }
      if unread.isEmpty {
        guard try fill(isBetweenRequests: raw.isEmpty) else { return nil }
        continue
      }
      let bytes = unread
      var cursor = 0
      let step = try parser.next(bytes.span, at: &cursor)
      raw += bytes[..<cursor]
      unread = Array(bytes[cursor...])
      if case .section(let section) = step {
        let request = try ReceivedRequest(section, raw: raw)
        lastMethod = request.method
        registry.countRequest()
        return request
      }
    }
  }

  /// Reads the body of the request whose head was read last, and stores the body in `request`.
  package func readBody(of request: inout ReceivedRequest) throws {
    switch try RequestFraming(request.fields) {
    case .length(let length):
      guard length <= UInt64(requestBodyBytesMax) else { throw OriginError.bodyTooLarge(limit: requestBodyBytesMax) }
      try readBody(of: &request, length: Int(length))
    case .chunked:
      try readChunks(of: &request)
    }
  }

  private func readBody(of request: inout ReceivedRequest, length: Int) throws {
    while request.body.count < length {
      if unread.isEmpty { _ = try fill(isBetweenRequests: false) }
      let count = min(unread.count, length - request.body.count)
      request.body += unread[..<count]
      unread.removeFirst(count)
    }
  }

  private func readChunks(of request: inout ReceivedRequest) throws {
    var decoder = ChunkedDecoder(limits: Limits())
    while true {
      if unread.isEmpty { _ = try fill(isBetweenRequests: false) }
      let bytes = exchange(&unread, with: [])
      var cursor = 0
      decoding: while true {
        switch try decoder.next(bytes.span, at: &cursor) {
        case .needMoreBytes: break decoding
        case .data(let range):
          guard request.body.count + range.count <= requestBodyBytesMax else {
            throw OriginError.bodyTooLarge(limit: requestBodyBytesMax)
          }
          request.body += bytes[range]
        case .end(let trailers):
          request.trailers = trailers
          unread = Array(bytes[cursor...])
          return
        }
      }
    }
  }

  /// Skips empty lines before a request line. "A server [...] SHOULD ignore at least one empty line (CRLF) received prior to the
  /// request-line." (RFC 9112 §2.2)
  private func skipEmptyLines() {
    let count = unread.prefix { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }.count
    unread.removeFirst(count)
  }

  /// Blocks until bytes arrive from the client, and returns true. If the client ends the connection instead, returns false between
  /// two requests, and throws an error within a request.
  private func fill(isBetweenRequests: Bool) throws -> Bool {
    do {
      unread = try receive()
    } catch {
      // A client that no longer needs the connection may reset it or omit close_notify. Both are harmless.
      guard isBetweenRequests, (error as? SystemError)?.isConnectionReset ?? (error is TLSError) else { throw error }
    }
    guard unread.isEmpty else { return true }
    guard isBetweenRequests else { throw OriginError.truncatedRequest }
    return false
  }
}

/// The framing of a request's body, which determines where the body ends. A request with neither Transfer-Encoding nor
/// Content-Length has no body (RFC 9112 §6.3).
private enum RequestFraming {
  case length(UInt64)
  case chunked

  init(_ fields: Fields) throws(OriginError) {
    if let coding = fields.list("transfer-encoding") {
      guard coding.lowercased() == "chunked" else { throw .unsupportedTransferCoding(coding) }
      self = .chunked
      return
    }
    // Content-Length = 1*DIGIT. Several field lines would form a list, which isn't valid.
    let value = fields.list("content-length") ?? "0"
    guard value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let length = UInt64(value) else {
      throw .malformedContentLength(value)
    }
    self = .length(length)
  }
}
