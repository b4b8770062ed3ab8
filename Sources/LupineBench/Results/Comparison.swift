// Comparison: the difference of two reports, with its confidence interval.

#if Bench
  internal import LupineJSON
  internal import LupineLibc

  /// A report that was read from its JSON, as far as comparisons need it.
  public struct ReportFile: Sendable, Decodable {
    struct Second: Sendable, Decodable {
      /// The end of the second, from the start of the measurement. Nil if the report lacks it.
      let time: Double?
      let length: Double
      let completed: Int
      let rate: Double
      let p50: Double
      let p99: Double
      /// Those of streams, if there were any in this second.
      let gap_p99: Double?
      let echo_p99: Double?
    }

    let valid: Bool
    /// The duration of the load. Nil if the report lacks it.
    let duration: Double?
    let rate: Double
    let error_share: Double
    let seconds: [Second]

    /// Reads a report from the JSON that `LoadReport.json` wrote. Returns nil if it is something else.
    public init?(json: [UInt8]) {
      guard let value = try? JSONDecoding.decode(ReportFile.self, from: json.span, JSONDecodingOptions()) else {
        return nil
      }
      self = value
    }
  }

  /// The differences between a report and an earlier one.
  ///
  /// A second of a test counts as one observation of each figure, because latencies within a second depend on each other: the
  /// interval is Welch's for the difference of the means of both tests' seconds.
  public struct Comparison: Sendable {
    /// One figure of both reports.
    public struct Row: Sendable {
      /// The name of the figure, such as `p99`.
      public let name: String
      /// The mean over the seconds of the first test, in seconds, or in requests per second for the rate.
      public let before: Double
      /// The mean over the seconds of the second test.
      public let after: Double
      /// The confidence interval of the difference at 95 %. Nil if a test has fewer than two complete seconds.
      public let interval: ClosedRange<Double>?
      let isRate: Bool

      /// Whether the interval shows that the figure got worse: a longer latency, or a lower rate.
      public var isWorse: Bool {
        guard let interval else { return false }
        return isRate ? interval.upperBound < 0 : interval.lowerBound > 0
      }

      /// Whether the interval shows that the figure got better.
      public var isBetter: Bool {
        guard let interval else { return false }
        return isRate ? interval.lowerBound > 0 : interval.upperBound < 0
      }
    }

    /// The rate, and the median and the 99th percentile of the latencies since due. If both tests had streams, also the 99th
    /// percentiles of the gaps between events, or of the echoes.
    public let rows: [Row]
    private let warnings: [String]

    /// Compares two reports.
    public init(before: ReportFile, after: ReportFile) {
      let (old, new) = (before.completeSeconds, after.completeSeconds)
      rows =
        [
          // Seconds in which the server stood still count, because in those that follow, it completes more than the load's rate.
          Self.row("rate", before.secondsOfLoad.map(\.rate), after.secondsOfLoad.map(\.rate), isRate: true),
          // A second of held streams may have no latency, and one without a response has none.
          Self.row("p50", old.map(\.p50).filter { $0 > 0 }, new.map(\.p50).filter { $0 > 0 }),
          Self.row("p99", old.map(\.p99).filter { $0 > 0 }, new.map(\.p99).filter { $0 > 0 }),
        ] + Self.streamRow("gap p99", old.compactMap(\.gap_p99), new.compactMap(\.gap_p99))
        + Self.streamRow("echo p99", old.compactMap(\.echo_p99), new.compactMap(\.echo_p99))
      var warnings = [("first", before), ("second", after)].filter { !$1.valid }.map { name, _ in
        "the \(name) report is of an invalid test, whose latencies don't describe the server"
      }
      let shares = [before, after].map { ($0.error_share * 100).text(2) }
      if shares[0] != shares[1] {
        warnings.append("\(shares[0]) % of the requests failed before, and \(shares[1]) % after")
      }
      self.warnings = warnings
    }

    private static func streamRow(_ name: String, _ old: [Double], _ new: [Double]) -> [Row] {
      old.isEmpty || new.isEmpty ? [] : [row(name, old, new)]
    }

    private static func row(_ name: String, _ old: [Double], _ new: [Double], isRate: Bool = false) -> Row {
      let (first, second) = (Moments(old), Moments(new))
      var interval: ClosedRange<Double>?
      if let spread = Moments.welch(first, second) {
        let difference = second.mean - first.mean
        interval = difference - spread...difference + spread
      }
      return Row(name: name, before: first.mean, after: second.mean, interval: interval, isRate: isRate)
    }

    /// The comparison as a table, with notes if a test was invalid, or if the tests' shares of errors differ.
    public var text: String {
      var text = "\("".left(10))\("before".right(12))\("after".right(12))  difference at 95 % confidence\n"
      for row in rows {
        func value(_ number: Double) -> String { row.isRate ? number.text(1) : Duration.seconds(number).text }
        text += row.name.left(10) + value(row.before).right(12) + value(row.after).right(12) + "  "
        if let interval = row.interval, row.before != 0 {
          let (low, high) = (interval.lowerBound / row.before * 100, interval.upperBound / row.before * 100)
          text +=
            "\(low.text(1)) % to \(high.text(1)) %"
            + (row.isWorse ? ", worse" : row.isBetter ? ", better" : ", no difference shown")
        } else {
          text += "too few seconds"
        }
        text += "\n"
      }
      return text + warnings.map { "Note: \($0).\n" }.joined()
    }
  }

  extension ReportFile {
    // The last second is shorter, and contains the wait for the last responses.
    fileprivate var completeSeconds: [Second] { seconds.dropLast().filter { $0.length > 0.5 } }

    /// The complete seconds without those of the wait for the last responses, in which nothing is sent.
    fileprivate var secondsOfLoad: [Second] {
      guard let duration else { return completeSeconds }
      return completeSeconds.filter { ($0.time ?? 0) <= duration + 0.5 }
    }
  }

  /// The mean and the variance of observations.
  struct Moments {
    let count: Int
    let mean: Double
    let variance: Double

    init(_ values: [Double]) {
      count = values.count
      let mean = values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
      self.mean = mean
      variance = count < 2 ? 0 : values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count - 1)
    }

    /// Half the width of Welch's confidence interval at 95 % for the difference of two means. Nil if there are too few observations.
    static func welch(_ first: Moments, _ second: Moments) -> Double? {
      guard first.count >= 2, second.count >= 2 else { return nil }
      let (a, b) = (first.variance / Double(first.count), second.variance / Double(second.count))
      guard a + b > 0 else { return 0 }
      // The Welch-Satterthwaite equation.
      let freedom = (a + b) * (a + b) / (a * a / Double(first.count - 1) + b * b / Double(second.count - 1))
      return studentQuantile(freedom) * (a + b).squareRoot()
    }

    /// The 0.975 quantile of Student's distribution, by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), which is within
    /// 1 % for three degrees of freedom or more; below, the exact values.
    static func studentQuantile(_ freedom: Double) -> Double {
      if freedom < 1.5 { return 12.706 }
      if freedom < 2.5 { return 4.303 }
      let x = 1.959_963_985
      let (x3, x5, x7) = (x * x * x, x * x * x * x * x, x * x * x * x * x * x * x)
      let x9 = x7 * x * x
      return x + (x3 + x) / (4 * freedom) + (5 * x5 + 16 * x3 + 3 * x) / (96 * freedom * freedom)
        + (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * freedom * freedom * freedom)
        + (79 * x9 + 776 * x7 + 1482 * x5 - 1920 * x3 - 945 * x) / (92160 * freedom * freedom * freedom * freedom)
    }
  }
#endif
