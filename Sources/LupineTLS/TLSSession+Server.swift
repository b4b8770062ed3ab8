// What a scripted server does after the handshake, so that tests can see what a client makes of it.

import CLupineOpenSSL

extension TLSSession {
  /// Queues a KeyUpdate that asks the peer for one of its own (RFC 8446 §4.6.3). False if the session can't.
  package mutating func requestKeyUpdate() -> Bool {
    defer { ERR_clear_error() }
    return SSL_key_update(handle.ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(handle.ssl) == 1
  }

  /// Queues one more session ticket (RFC 8446 §4.6.1). False if the session can't.
  package mutating func sendTicket() -> Bool {
    defer { ERR_clear_error() }
    return SSL_new_session_ticket(handle.ssl) == 1 && SSL_do_handshake(handle.ssl) == 1
  }

  /// Queues a HelloRequest, which asks for a new handshake (RFC 5246 §7.4.1.1). False if the session can't.
  package mutating func requestRenegotiation() -> Bool {
    defer { ERR_clear_error() }
    lupine_ssl_allow_renegotiation(handle.ssl)
    return SSL_renegotiate(handle.ssl) == 1 && SSL_do_handshake(handle.ssl) == 1
  }
}
