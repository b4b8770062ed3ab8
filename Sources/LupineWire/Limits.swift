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

  /// Bytes of one chunk-size line with its extensions, without CRLF; 4,096 by default.
  ///
  /// RFC 9112 §7.1.1 asks for a limit and names none. hyper allows 16 KiB of extensions in a whole body.
  public var chunkLineBytesMax = 4096

  /// Bytes of a trailer section; 16,384 by default.
  ///
  /// The RFC sets none. hyper allows 16 KiB.
  public var trailerBytesMax = 16 * 1024

  /// Creates the default limits.
  public init() {}
}
