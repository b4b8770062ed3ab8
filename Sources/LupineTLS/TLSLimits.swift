// What this target takes of a peer or of a file, at most.

enum TLSLimits {
  /// Bytes of the server's certificates in its handshake; OpenSSL's default. A chain of 4 RSA certificates has about 8 KB.
  static let certificateChainBytesMax = 100 * 1024
  /// Handshake messages (session tickets, key updates, requests to renegotiate) that a peer may send between two pieces
  /// of application data. Servers send 1 to 4 tickets, and a key update each 2^24 records or so.
  static let handshakeMessagesBetweenDataMax = 64
  /// Bytes that a session may have to answer (key updates, alerts) before its user sends them; a key update has 27.
  static let answerBytesMax = 16 * 1024
  /// Bytes that an empty buffer of a session keeps for what comes next; a larger one is given back. 64 KiB at a time need
  /// 87 KB, as OpenSSL rounds up, and giving them back each time would cost a tenth of a download's time.
  static let emptyBufferBytesMax = 128 * 1024
  /// The same once `releaseIdleMemory` was called: room for a handshake's or a short answer's bytes.
  static let idleBufferBytesMax = 4096
  /// Bytes of a certificate, key or PKCS#12 file; the system's whole bundle of authorities has 220 KB.
  static let identityFileBytesMax = 1024 * 1024
  /// Seconds that this machine's clock and an OCSP responder's may be apart.
  static let clockSkewSeconds = 5 * 60
  /// Seconds that an OCSP response without nextUpdate serves. RFC 6960 sets none; authorities renew theirs within 10 days
  /// (CA/Browser Forum, Baseline Requirements 4.9.10).
  static let undatedStapleSeconds = 10 * 24 * 3600
  /// Seconds that a session may be resumed for, whatever the server says: 7 days (RFC 8446 §4.6.1).
  static let sessionLifetimeSecondsMax: UInt = 7 * 24 * 3600
}
