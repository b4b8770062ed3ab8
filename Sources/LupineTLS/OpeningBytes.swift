// The peer's first bytes. OpenSSL reports a peer that doesn't speak TLS as "wrong version number", which sends people
// looking for a version; the bytes themselves tell what is there.

/// The start of the peer's first record header (RFC 8446 §5.1).
struct OpeningBytes {
  /// Bytes; the length of a record header.
  static let countMax = 5

  private var bytes: [UInt8] = []

  // SAFETY: the buffer's owner keeps it alive during the call, and only bytes within its count are read.
  mutating func record(_ received: UnsafeRawBufferPointer) {
    guard bytes.count < Self.countMax else { return }
    bytes.append(contentsOf: received.prefix(Self.countMax - bytes.count))
  }

  /// False if what came so far can't open a TLS connection: a content type of 20 to 23, then major version 3.
  var mayBeTLS: Bool {
    guard let type = bytes.first else { return true }
    return (20...23).contains(type) && (bytes.count < 2 || bytes[1] == 3)
  }

  /// What seems to be there instead.
  var guess: String? {
    let known: [(start: String, meaning: String)] = [
      ("HTTP", "it answered in plain HTTP"),
      ("SSH-", "it is an SSH server"),
      ("220", "it is an SMTP or FTP server"),
    ]
    return known.first { bytes.starts(with: $0.start.utf8) }?.meaning
  }
}
