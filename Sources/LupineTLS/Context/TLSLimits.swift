// TLSLimits: the limits for certificates, handshakes, revocation data and buffers, each with its unit and source.

enum TLSLimits {
  /// The maximum total size of the server's certificates in a handshake, in bytes: 100 KiB, which is OpenSSL's default. A chain
  /// of four RSA certificates has about 8 KB.
  static let certificateChainBytesMax = 100 * 1024
  /// The time in seconds for which a verified chain isn't verified again: 1 minute. No specification sets a limit. For
  /// comparison, OCSP responses are accepted for days.
  static let verifiedChainSeconds = 60
  /// The maximum number of host names whose latest verified chain a context stores: 64. Beyond this limit, outdated chains are
  /// removed, or an arbitrary one if there are none. Each takes a few KB: the certificates as sent, at most
  /// `certificateChainBytesMax`, and the parsed chain.
  static let verifiedChainsMax = 64
  /// The maximum number of authorities' names that the client records when a server requests a client certificate: 256. Further
  /// names are ignored. For comparison, the system's bundle has about 140 authorities. A session that can be resumed stores the
  /// names too.
  static let authoritiesMax = 256
  /// The maximum number of handshake messages (session tickets, key updates, requests to renegotiate) that a peer may send without
  /// application data in between: 64. Servers send 1 to 4 tickets, and a key update after about 2^24 records.
  static let handshakeMessagesBetweenDataMax = 64
  /// The maximum total size in bytes of the replies that a session queues automatically for the peer's key updates and alerts,
  /// until the caller sends them: 16 KiB. The reply to a key update has 27 bytes.
  static let answerBytesMax = 16 * 1024
  /// The maximum capacity in bytes of a session's ciphertext buffer while the buffer is empty: 128 KiB. A larger buffer is freed
  /// when it becomes empty.
  ///
  /// Receiving 64 KiB at a time needs a capacity of 87 KB, because OpenSSL rounds up. Freeing such a buffer after each read would
  /// make a download take a tenth longer.
  static let emptyBufferBytesMax = 128 * 1024
  /// The maximum capacity in bytes of each empty ciphertext buffer of an idle session: 4 KiB, which is enough for a handshake or a
  /// short response. `TLSSession.releaseIdleMemory` frees a larger buffer.
  static let idleBufferBytesMax = 4096
  /// The maximum size of a certificate, key or PKCS#12 file in bytes: 1 MiB. For comparison, the system's entire bundle of
  /// authorities has 220 KB.
  static let identityFileBytesMax = 1024 * 1024
  /// The accepted difference between the clocks of this machine and an OCSP responder, in seconds: 5 minutes.
  static let clockSkewSeconds = 5 * 60
  /// The maximum age of an OCSP response without nextUpdate, in seconds: 10 days. RFC 6960 sets no limit. Certificate authorities
  /// renew their responses within 10 days (CA/Browser Forum, Baseline Requirements 4.9.10).
  static let undatedStapleSeconds = 10 * 24 * 3600
  /// The length of the nonce of an OCSP request in bytes: 32 (RFC 9654 §2.1).
  static let ocspNonceBytes: Int32 = 32
  /// The maximum time in seconds after which the client may still resume a TLS session, even if the server allows more: 7 days (RFC
  /// 8446 §4.6.1).
  static let sessionLifetimeSecondsMax: UInt = 7 * 24 * 3600
}
