// RequestState and ResponseState: the progress of an exchange in each direction.

internal import LupineWire

extension Exchange {
  /// The progress of the request.
  enum RequestState {
    /// The head is being sent, and the body as fast as its source and the kernel allow.
    case sending
    /// The body waits for its producer, so the server isn't responsible for the pause.
    case awaitingProducer
    /// The body waits for the server's `100 Continue`.
    case awaitingContinue
    /// The body belongs to another protocol and waits for the server to switch to it.
    case awaitingUpgrade
    /// The server sent its final response without `100 Continue` or `101`; the body is not sent.
    case refused
  }

  /// The progress of the response.
  enum ResponseState {
    case awaitingHead
    /// The head has been delivered; the body follows with this framing.
    case receiving(BodyFraming)
    /// HTTP has ended on the connection: the body carries another protocol, whose pauses have no limits.
    case upgraded
    /// The exchange has left its connection, which reads the rest of the body in order to be reusable.
    case discarded
    /// The sink has been notified of the end.
    case ended
  }
}

extension Exchange.RequestState {
  /// The state of a request that hasn't been sent.
  init(_ manner: EngineRequest.Manner, isExpecting: Bool) {
    self = manner.offersUpgrade ? .awaitingUpgrade : isExpecting ? .awaitingContinue : .sending
  }
}
