// RequestState and ResponseState: the progress of an exchange in each direction.

internal import LupineWire

extension Exchange {
  /// The progress of the request.
  enum RequestState {
    /// The head and the body are being sent as fast as the body's source and the kernel allow.
    case sending
    /// The request waits for the body's producer, so the server isn't responsible for the pause.
    case awaitingProducer
    /// The request waits for the server's `100 Continue` before its body is sent.
    case awaitingContinue
    /// The body belongs to another protocol, and is sent once the server has switched to that protocol.
    case awaitingUpgrade
    /// The server sent its final response without `100 Continue` or `101`; the body is not sent.
    case refused
  }

  /// The progress of the response.
  enum ResponseState {
    case awaitingHead
    /// The head has been delivered. The body follows with this framing.
    case receiving(BodyFraming)
    /// HTTP has ended on the connection. The body belongs to another protocol, whose pauses have no time limits.
    case upgraded
    /// The exchange has left its connection, whose rest of the body is read so that the connection can be reused.
    case discarded
    /// The sink has been notified of the end.
    case ended
  }
}

extension Exchange.RequestState {
  /// Creates the initial state of a request.
  init(_ manner: EngineRequest.Manner, isExpecting: Bool) {
    self = manner.offersUpgrade ? .awaitingUpgrade : isExpecting ? .awaitingContinue : .sending
  }
}
