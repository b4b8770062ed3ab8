// StreamFormat: what the streams of a scenario consist of.

#if Bench
  /// The content of a stream, which determines what a load test measures on it.
  public enum StreamFormat: Sendable, Hashable {
    /// Server-sent events: the time to the first event, and the gaps between events.
    case events
    /// Lines of a body, such as JSON lines: the time to the first line, and the gaps between lines. Empty lines aren't counted.
    case lines
    /// Messages to a WebSocket server, which answers each with one message, and their latencies.
    ///
    /// The first message is due when the connection is open, and each further one this time, at least 1 ms, after the one before,
    /// whether or not an echo has arrived.
    case echoes(of: String, every: Duration)

    /// The shortest distance between the messages of one connection: 1 ms.
    public static let messageIntervalMin = Duration.milliseconds(1)
  }
#endif
