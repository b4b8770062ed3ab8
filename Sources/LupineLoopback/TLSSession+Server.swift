// TLSSession+Server: a server's side of a session, and messages that it sends after the handshake to test clients.

internal import CLupineOpenSSL
package import LupineTLS

extension TLSSession {
  /// Creates the server's side of a TLS session. Throws a `TLSError` with the code `.configuration`, but only if memory runs out.
  package init(server context: TLSContext) throws(TLSError) {
    try self.init(unsided: context)
    SSL_set_accept_state(ssl)
  }

  /// Queues a KeyUpdate message that requests a KeyUpdate from the client (RFC 8446 §4.6.3). Returns false if the session can't
  /// send it.
  package mutating func requestKeyUpdate() -> Bool {
    defer { ERR_clear_error() }
    return SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(ssl) == 1
  }

  /// Queues another session ticket for the client (RFC 8446 §4.6.1). Returns false if the session can't send it.
  package mutating func sendTicket() -> Bool {
    defer { ERR_clear_error() }
    return SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1
  }

  /// Queues a HelloRequest, which asks the client for a new handshake (RFC 5246 §7.4.1.1). Returns false if the session can't send
  /// it.
  package mutating func requestRenegotiation() -> Bool {
    defer { ERR_clear_error() }
    lupine_ssl_allow_renegotiation(ssl)
    return SSL_renegotiate(ssl) == 1 && SSL_do_handshake(ssl) == 1
  }
}
