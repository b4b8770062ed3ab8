// WebSocketLimits: the limits of a WebSocket connection, each with its unit and the source of its value.

/// The limits of what a connection accepts from its peer.
package struct WebSocketLimits: Sendable, Equatable {
  /// The maximum length of a message in bytes, after decompression. 1 MiB by default, the default of Foundation's
  /// `maximumMessageSize`.
  package var messageBytesMax = 1 << 20
  /// The maximum length of a frame's payload in bytes, as sent. 16 MiB by default. RFC 6455 permits 2⁶³ bytes. A frame isn't
  /// buffered; the limit matters because no control frame arrives within a frame.
  package var frameBytesMax = 16 << 20

  package init() {}

  /// The maximum length of a control frame's payload: 125 bytes (RFC 6455 §5.5).
  package static let controlBytesMax = 125

  /// The minimum length of a message that is compressed: 128 bytes. Compressing a shorter one takes longer than sending it.
  static let compressedBytesMin = 128
}

/// The time limits of a WebSocket connection.
package struct WebSocketTimeouts: Sendable, Equatable {
  /// The time from a Close frame sent to the end of the connection, and from a violation of the protocol to the Close frame, if the
  /// messages before it haven't been processed. 5 s by default; the `websockets` library allows 10 s, Chrome
  /// two times 2 s.
  package var close = Duration.seconds(5)
  /// The time between two pings that keep the connection alive. No such pings by default.
  package var pingInterval: Duration?
  /// The time for the answer to such a ping. 20 s by default, as in the `websockets` library.
  package var pong = Duration.seconds(20)
  /// The time for which the end of the connection isn't reported while its user takes none of the messages before it. A user that
  /// only sends is therefore notified too. 5 s by default, like `close`. Nil for no limit.
  package var untakenMessages: Duration? = .seconds(5)

  package init() {}
}
