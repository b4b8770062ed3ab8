// TLSSession+Server: messages that a server sends after the handshake, for tests of the client's behavior.

import CLupineOpenSSL

extension TLSSession {
  /// Queues a KeyUpdate that requests one in return (RFC 8446 §4.6.3). Returns false if the session can't send it.
  package mutating func requestKeyUpdate() -> Bool {
    defer { ERR_clear_error() }
    return SSL_key_update(handle.ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(handle.ssl) == 1
  }

  /// Queues another session ticket (RFC 8446 §4.6.1). Returns false if the session can't send it.
  package mutating func sendTicket() -> Bool {
    defer { ERR_clear_error() }
    return SSL_new_session_ticket(handle.ssl) == 1 && SSL_do_handshake(handle.ssl) == 1
  }

  /// Queues a HelloRequest, which requests a new handshake (RFC 5246 §7.4.1.1). Returns false if the session can't send
  /// it.
  package mutating func requestRenegotiation() -> Bool {
    defer { ERR_clear_error() }
    lupine_ssl_allow_renegotiation(handle.ssl)
    return SSL_renegotiate(handle.ssl) == 1 && SSL_do_handshake(handle.ssl) == 1
  }
}
