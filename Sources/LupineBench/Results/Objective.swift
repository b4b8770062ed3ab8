// Objective: a limit on a figure of a report, such as `p99<50ms`, with which a load test fails a build.

#if Bench
  /// A condition on which a load test fails, such as `p99>50ms`, `errors>0.1%` or `rate<900`.
  ///
  ///     objective = figure ( ">" / "<" ) number [ unit ]
  ///     figure    = quantile / "gap-" quantile / "echo-" quantile / "mean" / "max" / "errors" / "late" / "unsent" / "rate"
  ///                 / "cut" / "events"
  ///     quantile  = "p" percentage
  ///     unit      = "us" / "ms" / "s" / "%"
  ///
  /// Latencies are those since due, and need a unit of time. `errors`, `late` and `unsent` are shares with `%`, or else numbers of
  /// requests. `rate` is the number of completed requests per second. On streams, `gap-p99` is a gap between events, `echo-p99` a
  /// latency of echoes, `cut` the number or the share of the opened streams that were cut, and `events` the number of events per
  /// second.
  public struct Objective: Sendable, Hashable {
    private enum Figure: Hashable {
      case quantile(Double)
      case gap(Double)
      case echo(Double)
      case mean, max, errors, late, unsent, cut, rate, events

      /// The kind of the limit's number.
      var kind: Kind {
        switch self {
        case .quantile, .gap, .echo, .mean, .max: .latency
        case .errors, .late, .unsent, .cut: .count
        case .rate, .events: .rate
        }
      }
    }

    private enum Kind {
      case latency, count, rate
    }

    private enum Unit: String {
      case microseconds = "us"
      case milliseconds = "ms"
      case seconds = "s"
      case percent = "%"
      case none = ""
    }

    /// The objective as it was written.
    public let text: String
    private let figure: Figure
    private let isUpperLimit: Bool
    /// The limit: in seconds for latencies, from 0 to 1 for shares, and otherwise a number.
    private let limit: Double
    private let isShare: Bool

    /// Parses an objective. Returns nil if the text has another form.
    public init?(_ text: String) {
      self.text = text
      guard let sign = text.firstIndex(where: { $0 == ">" || $0 == "<" }) else { return nil }
      isUpperLimit = text[sign] == ">"
      let rest = text[text.index(after: sign)...].filter { $0 != " " }
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      guard let number = Double(digits), let unit = Unit(rawValue: String(rest.dropFirst(digits.count))) else {
        return nil
      }
      let name = text[..<sign].filter { $0 != " " }
      guard let figure = Self.figure(name) else { return nil }
      self.figure = figure
      switch (figure.kind, unit) {
      case (.latency, .microseconds): limit = number / 1e6
      case (.latency, .milliseconds): limit = number / 1e3
      case (.latency, .seconds): limit = number
      case (.count, .percent): limit = number / 100
      case (.count, .none), (.rate, .none): limit = number
      default: return nil
      }
      isShare = unit == .percent
    }

    private static let figures: [String: Figure] = [
      "mean": .mean, "max": .max, "errors": .errors, "late": .late, "unsent": .unsent, "rate": .rate, "cut": .cut,
      "events": .events,
    ]

    private static func figure(_ name: String) -> Figure? {
      if let figure = figures[name] { return figure }
      if name.hasPrefix("gap-") { return share(name.dropFirst(4)).map { .gap($0) } }
      if name.hasPrefix("echo-") { return share(name.dropFirst(5)).map { .echo($0) } }
      return share(name[...]).map { .quantile($0) }
    }

    /// Parses a quantile such as `p99`.
    private static func share(_ name: Substring) -> Double? {
      guard name.first == "p", let percent = Double(name.dropFirst()), (0...100).contains(percent) else { return nil }
      return percent / 100
    }

    /// Returns why the report doesn't meet the objective, or nil if it does.
    public func violation(in report: LoadReport) -> String? {
      let value = value(in: report)
      guard isUpperLimit ? value > limit : value < limit else { return nil }
      switch figure.kind {
      case .latency: return "\(text): it was \(Duration.seconds(value).text)"
      case .count: return "\(text): it was " + (isShare ? "\((value * 100).text(3)) %" : value.text(0))
      case .rate: return "\(text): it was \(value.text(1))"
      }
    }

    private func value(in report: LoadReport) -> Double {
      switch figure {
      case .quantile(let share): report.quantile(share).seconds
      case .mean: report.measurements.all.sinceDue.mean.seconds
      case .max: report.measurements.all.sinceDue.max.seconds
      case .errors: isShare ? report.errorShare : Double(report.errors.values.reduce(0, +))
      case .late: isShare ? report.lateShare : Double(report.lateCount)
      case .unsent:
        isShare ? Double(report.unsentCount) / Double(max(1, report.dueCount)) : Double(report.unsentCount)
      case .rate: report.rate
      case .gap(let share): report.gapQuantile(share).seconds
      case .echo(let share): report.echoQuantile(share).seconds
      case .cut:
        isShare
          ? Double(report.cutCount) / Double(Swift.max(1, report.openedStreamCount)) : Double(report.cutCount)
      case .events: report.eventRate
      }
    }
  }
#endif
