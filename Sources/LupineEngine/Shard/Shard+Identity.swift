// Shard+Identity: lets callers choose a client certificate when a server requests one.

package import LupineTLS

extension Shard {
  /// Returns whether the exchange's caller must choose a client certificate if a server requests one.
  func choosesIdentity(_ exchange: Exchange) -> Bool {
    configuration.reportsIdentityRequests && exchange.request.choosesIdentity(configuration.tls)
  }

  /// Ends an exchange that hasn't sent its request, with an error that asks its caller to choose a client certificate. The
  /// connection stays in the pool, and serves the request if the caller chooses none.
  func reportIdentityRequest(from authorities: [[UInt8]], _ connection: Connection, _ exchange: Exchange) {
    let origin = exchange.key.origin
    let error = EngineError(
      .tlsFailed, .tls, origin, proxy: exchange.key.route.proxy,
      cause: .tls(.identityRequested(by: origin.host, from: authorities)))
    exchange.noteUnsent(on: connection)
    // Released before the end, so that the caller's next request finds the connection idle.
    release(connection, closing: nil)
    endExchange(exchange, .failure(error))
  }
}

extension EngineRequest {
  /// Returns whether the caller must still choose a client certificate if the server requests one: the caller has made no choice,
  /// and the TLS settings contain no certificate. `engine` contains the engine's TLS settings, which apply if the request has none.
  package func choosesIdentity(_ engine: TLSConfiguration) -> Bool {
    identityChoice == nil && (connection?.tls ?? engine).identity == nil
  }
}
