// ServerSentEvent: an event of an event stream, and the limits for event streams and lines.

/// An event that a server has sent in an event stream (WHATWG HTML, "Server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
  /// The ID of the latest event that had one, up to and including this event. Empty if no event has had an ID. A client sends it back
  /// as `Last-Event-ID`, to continue the stream after this event.
  public let id: String
  /// The event's type, `message` if the server sent none.
  public let type: String
  /// The event's data. Several `data` lines are joined by line feeds. Invalid UTF-8 is replaced with U+FFFD.
  public let data: String

  /// Creates an event.
  public init(id: String = "", type: String = "message", data: String) {
    self.id = id
    self.type = type
    self.data = data
  }
}

/// The limits of the memory that a client uses for an event stream, or for a body that it reads line by line.
///
/// The WHATWG's specification sets none.
public struct EventStreamLimits: Sendable, Hashable {
  /// The maximum length of a line in bytes, without its line ending. 16 MiB by default, because language models and MCP servers send
  /// whole images, in base64, in one line. Go's `bufio.Scanner` accepts 64 KiB, and a body in memory may have 64 MiB.
  public var lineBytesMax = 16 * 1024 * 1024
  /// The maximum length of an event's data and type together, in bytes. 16 MiB by default, so that one line of maximum length is
  /// accepted, but not any number of lines.
  public var eventBytesMax = 16 * 1024 * 1024
  /// The maximum length of an event's ID in bytes. 4 KiB by default: an ID is sent back in a header field, and Apache and nginx accept
  /// lines of 8 KiB.
  public var idBytesMax = 4 * 1024

  /// Creates limits with the default values.
  public init() {}
}

/// A limit that a response exceeded while it was read as an event stream or line by line. The associated values are the limits in
/// bytes.
public enum EventStreamError: Error, Sendable, Hashable {
  /// A line is longer than ``EventStreamLimits/lineBytesMax``.
  case lineTooLong(bytesMax: Int)
  /// An event is longer than ``EventStreamLimits/eventBytesMax``.
  case eventTooLong(bytesMax: Int)
  /// An event's ID is longer than ``EventStreamLimits/idBytesMax``.
  case idTooLong(bytesMax: Int)
}

extension EventStreamError: CustomStringConvertible {
  /// One line that states the limit and the remedy.
  public var description: String {
    switch self {
    case .lineTooLong(let bytesMax):
      "A line of the response is longer than \(bytesMax) bytes. Raise lineBytesMax, or check that the server ends its lines."
    case .eventTooLong(let bytesMax):
      "An event is longer than \(bytesMax) bytes. Raise eventBytesMax, or check that the server ends its events by empty lines."
    case .idTooLong(let bytesMax):
      "The ID of an event is longer than \(bytesMax) bytes. Raise idBytesMax, or shorten the server's IDs."
    }
  }
}
