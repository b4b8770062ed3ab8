// OriginError: the errors of the origin server.

/// An error of an `OriginServer`, which usually ends the handler of a connection. Errors of sockets, of TLS and of LupineWire have
/// other types.
package enum OriginError: Error, Sendable, Hashable {
  /// The address on which the server should listen isn't numeric.
  case notAnAddress(String)
  case malformedRequestLine
  case malformedContentLength(String)
  case unsupportedTransferCoding(String)
  case bodyTooLarge(limit: Int)
  /// The client closed the connection before it had sent its complete request.
  case truncatedRequest
  /// The handler passed a status or a field that isn't valid in a response head. The associated value names it. To send invalid
  /// bytes, use `Peer.send`.
  case invalidResponse(String)
  /// The handler used the connection after it had closed it.
  case closed
  /// The server is stopping, so the handler must end.
  case stopped
}

extension OriginError: CustomStringConvertible {
  /// A text that states the cause of the error and the remedy.
  package var description: String {
    switch self {
    case .notAnAddress(let text): "\"\(text)\" isn't a numeric address. Listen on 127.0.0.1 or ::1."
    case .malformedRequestLine: "The request line isn't \"method target HTTP/1.x\" (RFC 9112 §3). Fix the client."
    case .malformedContentLength(let value):
      "\"\(value)\" isn't a valid Content-Length (RFC 9110 §8.6). Fix the client."
    case .unsupportedTransferCoding(let value):
      "The request's Transfer-Encoding is \"\(value)\", but only chunked is supported (RFC 9112 §6.1). Fix the client."
    case .bodyTooLarge(let limit): "The request body has more than \(limit) bytes. Read it with Peer.receive."
    case .truncatedRequest: "The client closed the connection in the middle of a request. Check the client."
    case .invalidResponse(let part): "\(part) isn't valid in a response. Use Peer.send to send it deliberately."
    case .closed: "The handler has already closed this connection. Read and send before closing it."
    case .stopped: "The server is stopping. Start another one."
    }
  }
}

extension OriginError {
  /// Whether the client's request caused the error. If so, the server responds with 400.
  var isClientsFault: Bool {
    switch self {
    case .malformedRequestLine, .malformedContentLength, .unsupportedTransferCoding, .bodyTooLarge: true
    case .notAnAddress, .truncatedRequest, .invalidResponse, .closed, .stopped: false
    }
  }
}
