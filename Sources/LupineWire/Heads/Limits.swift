// Limits: the limits of the wire layer, each with its unit and the source of its value.

/// The limits on the parts of a response. If a response exceeds a limit, the client closes the connection.
///
/// The limits bound the memory that a peer can occupy. The defaults leave ample room for real servers.
public struct Limits: Sendable, Hashable {
  /// The maximum size of a response head in bytes, including the status line and all field lines. 65,536 by default.
  ///
  /// RFC 9110 sets no limit (§5.4). Node accepts 16 KiB, curl 300 KiB, Go 10 MiB.
  public var headBytesMax = 64 * 1024

  /// The maximum number of field lines in a head or trailer section. 256 by default.
  ///
  /// RFC 9110 sets no limit. Apache sends and accepts 100; hyper accepts 100.
  public var fieldLinesMax = 256

  /// The maximum number of interim responses (1xx) before a final response. 16 by default.
  ///
  /// RFC 9110 §15.2 allows any number. Go accepts 5.
  public var informationalMax = 16

  /// The maximum number of transfer codings before chunked. 5 by default.
  ///
  /// RFC 9112 sets no limit. curl accepts 5. More than one coding has no use and only multiplies the cost of decoding.
  public var transferCodingsMax = 5

  /// The maximum size of a chunk-size line with its extensions in bytes, without CRLF. 4,096 by default.
  ///
  /// RFC 9112 §7.1.1 requires a limit without giving a value. Go accepts 4 KiB.
  public var chunkLineBytesMax = 4096

  /// The maximum size of all chunk extensions of a body in bytes, including the white space that pads chunk sizes.
  /// 16,384 by default.
  ///
  /// RFC 9112 §7.1.1 requires a limit without giving a value. hyper accepts 16 KiB.
  public var chunkExtensionBytesMax = 16 * 1024

  /// The maximum size of a trailer section in bytes. 16,384 by default.
  ///
  /// RFC 9112 sets no limit. hyper accepts 16 KiB.
  public var trailerBytesMax = 16 * 1024

  /// The maximum delay in a Retry-After field in seconds: 2,147,483,648, about 68 years. Longer delays are reduced to this value.
  ///
  /// RFC 9110 §10.2.3 sets no limit; RFC 9111 §1.2.2 sets the same limit for ages. The limit prevents overflow when the delay is
  /// added to a clock.
  public static let delaySecondsMax: Int64 = 1 << 31

  /// The maximum number of authentication challenges in all field lines with the same name in a head: 16. Further challenges are
  /// dropped.
  ///
  /// RFC 9110 §11.6.1 sets no limit. IANA has registered about a dozen schemes, and servers offer three or four.
  public static let challengesMax = 16

  /// The maximum number of parameters of an authentication challenge: 32. Further parameters are dropped.
  ///
  /// RFC 9110 §11.2 sets no limit. Digest has the most parameters of the registered schemes, nine (RFC 7616 §3.3).
  public static let challengeParametersMax = 32

  /// The maximum size of a Unix socket's path in bytes: 107, the size of sun_path without the final NUL (unix(7)).
  public static let socketPathBytesMax = 107

  /// Creates limits with the default values.
  public init() {}
}
