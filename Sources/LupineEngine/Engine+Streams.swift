// Engine+Streams: connections that carry another protocol than HTTP from their first byte, unencrypted at first. TLS may start later.

internal import LupineTLS
package import LupineWire

/// A handle with which a caller controls a raw stream. Each call sends a message to the stream's event loop, and has no effect once
/// the stream has ended. The handle retains the engine.
package struct StreamHandle: Sendable {
  private let engine: Engine
  private let exchange: ExchangeHandle

  fileprivate init(_ exchange: ExchangeHandle, _ engine: Engine) {
    self.exchange = exchange
    self.engine = engine
  }

  /// Permits the engine to read and deliver `byteCount` more bytes. A stream starts with a window of 0.
  package func extendWindow(by byteCount: Int) { exchange.extendWindow(by: byteCount) }

  /// Starts TLS on the stream's connection. Call this once, after `sent` has reported all bytes. Bytes of the peer that weren't
  /// delivered before are taken for the peer's TLS messages.
  package func startTLS() { exchange.startTLS() }

  /// Closes the connection of an open stream, which ends successfully.
  package func close() { exchange.discardBody() }

  /// Ends the stream, in any phase, with the error `.cancelled`.
  package func cancel() { exchange.cancel() }
}

extension Engine {
  /// Opens a connection for a raw stream: name resolution, address policy, proxies and time limits are those of an https request.
  /// HTTP proxies open a tunnel with CONNECT. Nothing is read before `StreamHandle.extendWindow` is called.
  ///
  /// - Parameters:
  ///   - origin: An https origin, which chooses the proxy. If TLS starts, its host is the name that the certificate must match.
  ///   - settings: The settings of the connection that differ from the engine's, or nil if none differ.
  ///   - identity: The client certificate for a server that requests one. If nil, that of the TLS settings.
  ///   - timeouts: The time limits for opening the connection and for the TLS handshake, and the total one.
  ///   - sink: The receiver of the stream's events.
  package func openStream(
    to origin: Origin, _ settings: ConnectionSettings?, identity: IdentityChoice?, timeouts: Timeouts,
    sink: any StreamSink
  ) -> StreamHandle {
    precondition(origin.scheme == .https, "a stream needs an https origin")
    var request = EngineRequest(
      method: "CONNECT", uri: URI(origin), body: RequestBody.begun(isReplayable: false, by: { sink.connected($0) }),
      timeouts: timeouts)
    // A stream has no head.
    request.rawBytes = []
    request.connection = settings
    request.identityChoice = identity
    request.streamSink = sink
    return StreamHandle(submit(request, to: sink, windowBytes: 0), self)
  }
}

extension EngineRequest {
  /// The TLS settings with which the request's stream starts TLS: without ALPN, whose only name would be that of HTTP. `engine`
  /// contains the engine's TLS settings, which apply if the request has none.
  func streamTLS(or engine: TLSConfiguration) -> TLSConfiguration {
    var tls = connection?.tls ?? engine
    if let identityChoice { tls = tls.presenting(identityChoice) }
    tls.applicationProtocols = []
    return tls
  }
}
