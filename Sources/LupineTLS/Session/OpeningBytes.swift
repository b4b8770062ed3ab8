// OpeningBytes: recognizes peers that don't use TLS by their first bytes. OpenSSL reports such peers as "wrong version number",
// which wrongly suggests a problem with TLS versions.

/// The first bytes that the peer has sent. If the peer uses TLS, they are the header of the first record (RFC 8446 §5.1).
struct OpeningBytes {
  /// The number of bytes that are recorded from the start of the connection: 5, the length of a TLS record header.
  static let countMax = 5

  private var bytes: [UInt8] = []

  // SAFETY: the buffer's owner keeps it alive during the call, and only bytes within its count are read.
  mutating func record(_ received: UnsafeRawBufferPointer) {
    guard bytes.count < Self.countMax else { return }
    bytes.append(contentsOf: received.prefix(Self.countMax - bytes.count))
  }

  /// Whether the peer's first bytes may be the start of a TLS connection: a content type of 20 to 23, followed by the major version
  /// 3. Also true as long as there are too few bytes to decide.
  var mayBeTLS: Bool {
    guard let type = bytes.first else { return true }
    return (20...23).contains(type) && (bytes.count < 2 || bytes[1] == 3)
  }

  /// A clause for an error message that states which protocol other than TLS the peer probably uses, such as HTTP. Nil if the
  /// peer's first bytes match no known protocol.
  var guess: String? {
    let known: [(start: String, meaning: String)] = [
      ("HTTP", "it answered in plain HTTP"),
      ("SSH-", "it is an SSH server"),
      ("220", "it is an SMTP or FTP server"),
    ]
    return known.first { bytes.starts(with: $0.start.utf8) }?.meaning
  }
}
