// RawStream: the state of a raw stream, beyond that of its exchange.

internal import LupineReactor

/// The state of a raw stream: its progress in each direction, and its TLS handshake. Used only on its loop's thread.
final class RawStream {
  /// The stages of TLS on the stream's connection.
  enum Handshake: Equatable {
    /// The stream is unencrypted.
    case none
    /// The handshake is in progress since `start`.
    case running(start: Instant)
    /// The certificate verifier is deciding.
    case verifying(start: Instant)
    case done
  }

  let sink: any StreamSink
  /// The number of bytes that the sink knows the kernel has accepted.
  @exclusivity(unchecked) var reportedByteCount: UInt64 = 0
  /// Whether the sending direction is closed.
  @exclusivity(unchecked) var hasEndedSending = false
  @exclusivity(unchecked) var handshake = Handshake.none
  /// Lets a certificate verifier's thread check whether the stream still exists.
  let liveness = Liveness()

  /// Whether the certificate verifier of the stream's TLS handshake is deciding.
  var isVerifying: Bool {
    if case .verifying = handshake { true } else { false }
  }

  init(_ sink: any StreamSink) { self.sink = sink }
}
