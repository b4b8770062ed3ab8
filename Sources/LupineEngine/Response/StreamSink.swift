// StreamSink: the receiver of a raw stream's events.

/// Receives the events of a raw stream on one of the engine's event loops, in addition to those of a response.
///
/// `receive(body:)` delivers the bytes of the peer, and `finish` follows once, as for a response; there is no head. Each call must
/// return quickly.
package protocol StreamSink: ResponseSink {
  /// Called when the connection is open. `writer` accepts the bytes to send; its `end` closes the sending direction after them.
  func connected(_ writer: BodyWriter)
  /// Called when the kernel has accepted the first `byteCount` bytes, and no byte waits to be sent.
  func sent(byteCount: UInt64)
  /// Called when the peer has closed its sending direction. With TLS, only after close_notify; without it, the stream fails.
  func receivedEnd()
  /// Called when the TLS handshake is complete.
  func secured()
}

extension StreamSink {
  package func receive(head: ResponseHead) -> BodyDisposition { .discard }
}
