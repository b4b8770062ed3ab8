// RequestState and ResponseState: the progress of an exchange in each direction.

internal import LupineWire

extension Exchange {
  /// The progress of the request.
  enum RequestState {
    /// The head and the body are being sent as fast as the body's source and the kernel allow.
    case sending
    /// The exchange waits for the body's producer, so the server isn't responsible for the pause.
    case awaitingProducer
    /// The exchange waits for the server's `100 Continue` before it sends the body.
    case awaitingContinue
    /// The body is data of another protocol, and is sent once the server has switched to that protocol.
    case awaitingUpgrade
    /// The server sent its final response without `100 Continue` or `101`, so the body isn't sent.
    case refused
  }

  /// The progress of the response.
  enum ResponseState {
    case awaitingHead
    /// The head has been delivered, and the body, which has this framing, is being received.
    case receiving(BodyFraming)
    /// The connection has switched to another protocol, which the body carries. Its pauses have no time limit.
    case upgraded
    /// The exchange no longer uses its connection. The loop reads the rest of the body only so that the connection can be
    /// reused.
    case discarded
    /// The sink has been notified of the end.
    case ended
  }
}

extension Exchange.RequestState {
  /// Creates the initial state of a request.
  init(_ traits: EngineRequest.Traits, isExpecting: Bool) {
    self = traits.offersUpgrade ? .awaitingUpgrade : isExpecting ? .awaitingContinue : .sending
  }
}
