// Every limit of the wire layer, with its unit and where the figure comes from.

/// How much of each part of a message is accepted before the connection is given up.
///
/// A limit bounds memory whatever a peer sends. The defaults leave ample room for real servers.
public struct Limits: Sendable, Hashable {
  /// Bytes of one response head, status line and field lines together; 65,536 by default.
  ///
  /// RFC 9110 sets none (§5.4). Node accepts 16 KiB, Go 10 MiB, curl 300 KiB.
  public var headBytesMax = 64 * 1024

  /// Field lines in one head or trailer section; 256 by default.
  ///
  /// The RFC sets none. Apache sends and takes 100, hyper takes 100.
  public var fieldLinesMax = 256

  /// Informational (1xx) responses before the final one; 16 by default.
  ///
  /// The RFC allows any number (RFC 9110 §15.2). Go stops after 5.
  public var informationalMax = 16

  /// Transfer codings in front of chunked; 5 by default.
  ///
  /// The RFC sets none. curl takes 5; more than one has no use but to multiply what decoding costs.
  public var transferCodingsMax = 5

  /// Bytes of one chunk-size line with its extensions, without CRLF; 4,096 by default.
  ///
  /// RFC 9112 §7.1.1 asks for a limit and names none. Go allows 4 KiB.
  public var chunkLineBytesMax = 4096

  /// Bytes of all chunk extensions of one body, with the white space that pads sizes; 16,384 by default.
  ///
  /// RFC 9112 §7.1.1 asks for a limit and names none. hyper allows 16 KiB.
  public var chunkExtensionBytesMax = 16 * 1024

  /// Bytes of a trailer section; 16,384 by default.
  ///
  /// The RFC sets none. hyper allows 16 KiB.
  public var trailerBytesMax = 16 * 1024

  /// Seconds of a Retry-After, at the most; a larger number counts as this one, 2,147,483,648, which is 68 years.
  ///
  /// RFC 9111 §1.2.2 says so for ages; RFC 9110 §10.2.3 sets none. It keeps sums with a clock from overflowing.
  public static let delaySecondsMax: Int64 = 1 << 31

  /// Challenges of all lines of one name in one head; what stands behind is left out. 16.
  ///
  /// RFC 9110 sets none (§11.6.1). IANA has registered about a dozen schemes, and servers offer three or four.
  public static let challengesMax = 16

  /// Parameters of one challenge; what stands behind is left out. 32.
  ///
  /// RFC 9110 sets none (§11.2). Digest, which has the most of the registered schemes, has nine (RFC 7616 §3.3).
  public static let challengeParametersMax = 32

  /// Bytes of a Unix socket's path; 107, the size of sun_path without its final NUL (unix(7)).
  public static let socketPathBytesMax = 107

  /// Creates the default limits.
  public init() {}
}
