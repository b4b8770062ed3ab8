// StreamTotals: adds up what happens on the streams of a test. Pure.

#if Bench
  internal import LupineEngine

  /// An event on a stream.
  enum StreamEvent: Sendable {
    /// The server has accepted the request, so the stream is open.
    case opened
    /// Events or lines arrived together. `gap` is the time since the event before, or nil for the first event of the stream.
    case events(count: Int, gap: Duration?)
    /// A message was sent, this long after it was due.
    case message(delay: Duration)
    /// A message was due, but not sent, because too many await an echo.
    case unsentMessage
    /// A message arrived. `echo` is nil if no message awaited one.
    case received(StreamRecord.Echo?)
  }

  /// How an open stream ended.
  enum StreamEnding: String, Sendable, CaseIterable {
    /// The server ended it properly.
    case ended
    /// The generator closed it, after its time.
    case closed
    /// The connection was lost in the middle, or the server broke the protocol.
    case cut
  }

  /// The sums and histograms of the streams of a test, or of one of its seconds.
  struct StreamTotals: Sendable {
    /// The number of streams that are open, including those that were opened during the warm-up.
    private(set) var openCount = 0
    private(set) var openedCount = 0
    private(set) var endings: [StreamEnding: Int] = [:]
    private(set) var eventCount = 0
    private(set) var gaps = LatencyHistogram()
    /// The durations of the streams that the server ended, since they were due.
    private(set) var durations = LatencyHistogram()
    private(set) var messageCount = 0
    private(set) var lateMessageCount = 0
    private(set) var unsentMessageCount = 0
    private(set) var echoesSinceDue = LatencyHistogram()
    private(set) var echoesSinceSent = LatencyHistogram()
    private(set) var lastEvent: Instant?
    private var second = Second()

    /// The events of one second.
    struct Second: Sendable {
      var eventCount = 0
      var gaps = LatencyHistogram()
      var echoes = LatencyHistogram()
    }

    /// The number of messages without an echo.
    var unansweredCount: Int { messageCount - Int(echoesSinceDue.count) }

    /// The number of open streams without those that were opened during the warm-up.
    var measuredOpenCount: Int { openedCount - endings.values.reduce(0, +) }

    func count(_ ending: StreamEnding) -> Int { endings[ending] ?? 0 }

    /// Adds an event. `isMeasured` is false during the warm-up. An opened stream counts if it was due after the warm-up.
    mutating func add(_ event: StreamEvent, at now: Instant, isMeasured: Bool) {
      if case .opened = event { openCount += 1 }
      guard isMeasured else { return }
      switch event {
      case .opened: openedCount += 1
      case .events(let count, let gap):
        noteEvents(count, now)
        if let gap {
          gaps.record(gap)
          second.gaps.record(gap)
        }
        // Events that arrived together have a gap of 0 between them.
        if count > 1 {
          gaps.record(nanoseconds: 0, count: UInt64(count - 1))
          second.gaps.record(nanoseconds: 0, count: UInt64(count - 1))
        }
      case .message(let delay):
        messageCount += 1
        if delay > Measurements.lateness { lateMessageCount += 1 }
      case .unsentMessage: unsentMessageCount += 1
      case .received(let echo):
        noteEvents(1, now)
        guard let echo else { return }
        echoesSinceDue.record(echo.sinceDue)
        echoesSinceSent.record(echo.sinceSent)
        second.echoes.record(echo.sinceDue)
      }
    }

    private mutating func noteEvents(_ count: Int, _ now: Instant) {
      eventCount += count
      second.eventCount += count
      lastEvent = now
    }

    /// Notes the end of an open stream.
    mutating func end(_ ending: StreamEnding, after duration: Duration, isMeasured: Bool) {
      openCount -= 1
      guard isMeasured else { return }
      endings[ending, default: 0] += 1
      if ending == .ended { durations.record(duration) }
    }

    /// Returns the events since the last call.
    mutating func takeSecond() -> Second {
      defer {
        second.eventCount = 0
        second.gaps.removeAll()
        second.echoes.removeAll()
      }
      return second
    }
  }

  /// The numbers of the streams in one second of a test.
  struct StreamRow: Sendable {
    let openCount: Int
    let eventCount: Int
    let gapCount: UInt64
    /// Quantiles of the gaps, or nil if there were none.
    let gapP50: Duration?
    let gapP99: Duration?
    let echoCount: UInt64
    /// Quantiles of the echoes' latencies, or nil if there were none.
    let echoP50: Duration?
    let echoP99: Duration?

    init(_ second: StreamTotals.Second, openCount: Int) {
      func quantile(_ share: Double, of histogram: LatencyHistogram) -> Duration? {
        histogram.count > 0 ? histogram.quantile(share) : nil
      }
      (self.openCount, eventCount) = (openCount, second.eventCount)
      (gapCount, echoCount) = (second.gaps.count, second.echoes.count)
      (gapP50, gapP99) = (quantile(0.5, of: second.gaps), quantile(0.99, of: second.gaps))
      (echoP50, echoP99) = (quantile(0.5, of: second.echoes), quantile(0.99, of: second.echoes))
    }
  }
#endif
