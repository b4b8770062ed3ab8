// RequestState and ResponseState: the progress of an exchange in each direction.

internal import LupineWire

extension Exchange {
  /// The progress of an exchange's request.
  enum RequestState {
    /// The head and the body of the request are being sent as fast as the body's source and the kernel allow.
    case sending
    /// The exchange waits until the producer of the request body writes more bytes, so the server isn't responsible for the pause.
    case awaitingProducer
    /// The exchange waits for the server's `100 Continue` before it sends the body.
    case awaitingContinue
    /// The request body is data of another protocol. It is sent once the server has switched to that protocol.
    case awaitingUpgrade
    /// The server sent its final response without `100 Continue` or `101`, so the engine doesn't send the request body.
    case refused
  }

  /// The progress of an exchange's response.
  enum ResponseState {
    case awaitingHead
    /// The response head has been delivered, and the body is being received. The associated value is the body's framing.
    case receiving(BodyFraming)
    /// The connection has switched to another protocol, whose data is the body of the response. Pauses of the server have no time
    /// limit.
    case upgraded
    /// The exchange carries a raw stream, on whose connection a TLS handshake is in progress.
    case securing
    /// The exchange no longer uses its connection. The event loop reads the rest of the body only so that the connection can be
    /// reused.
    case discarded
    /// The sink has been notified that the exchange has ended.
    case ended
  }
}

extension Exchange.RequestState {
  /// Creates the initial state of a request.
  init(_ traits: EngineRequest.Traits, isExpecting: Bool) {
    self = traits.offersUpgrade ? .awaitingUpgrade : isExpecting ? .awaitingContinue : .sending
  }
}
