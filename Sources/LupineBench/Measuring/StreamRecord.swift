// StreamRecord: the times of one stream: its events, and its messages that await an echo. Pure: time is a parameter.

#if Bench
  internal import LupineEngine

  struct StreamRecord: Sendable {
    /// The most messages of one connection that may await an echo: 1,000. Messages that are due then aren't sent, so that a server
    /// that stops reading doesn't fill the generator's memory.
    static let unansweredMax = 1_000

    /// How long a message waited for its echo.
    struct Echo: Sendable, Hashable {
      let sinceDue: Duration
      let sinceSent: Duration
    }

    private var lastEvent: Instant?
    /// The messages that await an echo, oldest first.
    private var messages: [(due: Instant, sent: Instant)] = []

    /// The number of messages that await an echo.
    var unansweredCount: Int { messages.count }

    /// Notes events that arrived together. Returns the time since the event before, or nil if there was none.
    mutating func noteEvents(at now: Instant) -> Duration? {
      defer { lastEvent = now }
      return lastEvent.map { now - $0 }
    }

    /// Notes a message that is sent now. Returns false if too many await an echo, so that it must not be sent.
    mutating func noteMessage(due: Instant, sent now: Instant) -> Bool {
      guard messages.count < Self.unansweredMax else { return false }
      messages.append((due, now))
      return true
    }

    /// Notes a received message, which is the echo of the oldest message without one. Returns nil if no message awaits an echo.
    mutating func noteEcho(at now: Instant) -> Echo? {
      guard !messages.isEmpty else { return nil }
      let message = messages.removeFirst()
      return Echo(sinceDue: now - message.due, sinceSent: now - message.sent)
    }
  }
#endif
