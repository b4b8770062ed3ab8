// HistogramLog: HdrHistogram's log of interval histograms (.hlog, version 1.3), one line for each second of a test.

#if Bench
  /// Why several logs can't be joined.
  public struct HistogramLogError: Error, Sendable, Hashable {
    /// The index of the log.
    public let log: Int
    /// The number of the line in it, starting at 1, that isn't an interval of `lupine bench`.
    public let line: Int
  }

  /// Joins the `.hlog` files of several tests.
  public enum HistogramLogs {
    /// Returns a log with the intervals of all logs, in the order of their times and unchanged.
    public static func merge(_ logs: [String]) throws(HistogramLogError) -> String {
      var intervals: [HistogramLog.Interval] = []
      for (index, log) in logs.enumerated() {
        let (read, faultyLine) = HistogramLog.read(log)
        if let faultyLine { throw HistogramLogError(log: index, line: faultyLine) }
        intervals += read
      }
      intervals.sort { $0.start < $1.start }
      let base = intervals.first?.start ?? 0
      return HistogramLog.header(startTime: base) + intervals.map { $0.line(from: base) }.joined()
    }
  }

  extension LoadProgress {
    /// The beginning of a `.hlog` file for a measurement that starts after `delay` from now.
    public static func histogramLogHeader(after delay: Duration = .zero) -> String {
      HistogramLog.header(startTime: TimeOfDay.seconds + delay.seconds)
    }

    /// The last second's latencies since due as a line of a `.hlog` file.
    public var histogramLogLine: String {
      HistogramLog.Interval(start: (time - length).seconds, length: length.seconds, histogram: latencies).line(from: 0)
    }
  }

  /// The text of `.hlog` files. Their values are nanoseconds; the intervals' maxima are milliseconds.
  enum HistogramLog {
    static func header(startTime: Double) -> String {
      """
      #[Histogram log format version 1.3]
      #[StartTime: \(startTime.text(3)) (seconds since epoch)]
      #[BaseTime: \(startTime.text(3)) (seconds since epoch)]
      "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

      """
    }

    /// An interval of a log.
    struct Interval {
      let start: Double
      let length: Double
      let histogram: LatencyHistogram

      /// The interval's line in a log with this base time.
      func line(from base: Double) -> String {
        "\((start - base).text(3)),\(length.text(3)),\(histogram.max.milliseconds.text(6)),"
          + HistogramCode.encode(histogram) + "\n"
      }
    }

    /// Returns the intervals of a log, at their times since 1970, and the number of the first line that isn't one.
    static func read(_ text: String) -> (intervals: [Interval], faultyLine: Int?) {
      var (base, intervals) = (0.0, [Interval]())
      for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        if line.hasPrefix("#[BaseTime: ") { base = Double(line.dropFirst(12).prefix { $0 != " " }) ?? base }
        guard !line.isEmpty, !line.hasPrefix("#"), !line.hasPrefix("\"") else { continue }
        let parts = line.split(separator: ",").map(String.init).filter { !$0.hasPrefix("Tag=") }
        guard parts.count == 4, let start = Double(parts[0]), let length = Double(parts[1]),
          let histogram = HistogramCode.decode(parts[3])
        else { return (intervals, index + 1) }
        intervals.append(Interval(start: base + start, length: length, histogram: histogram))
      }
      return (intervals, nil)
    }
  }
#endif
