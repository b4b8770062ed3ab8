// LoadReport+Text: the report as a table for terminals.

#if Bench
  internal import LupineEngine

  extension LoadReport {
    /// The report as text for a terminal.
    public var text: String {
      var text = ""
      let all = measurements.all
      if case .open = plan.loop {
        text += "due         \(dueCount) requests in \(duration.seconds.text(1)) s\n"
        text +=
          "not sent    \(unsentCount)" + (unsentCount > 0 ? ", because \(plan.inFlightMax) were in flight\n" : "\n")
        text += "sent late   \(lateCount) by more than 5 ms; delays of all requests: "
        text += "p99 \(measurements.delays.quantile(0.99).text), "
        text += "max \(measurements.delays.max.text)\n"
      }
      text += "completed   \(completedCount), \(rate.text(1)) per second, \(all.receivedBytes.bytesText) of bodies\n"
      text += "errors      \(errors.values.reduce(0, +)) (\((errorShare * 100).text(2)) %)\(errorsText)\n"
      let statuses = all.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      if !statuses.isEmpty { text += "statuses    \(statuses.joined(separator: ", "))\n" }
      text += "connections \(openedConnectionCount) opened"
      text += connectionsOpenedInAdvance > 0 ? ", \(connectionsOpenedInAdvance) of them in advance\n" : "\n"
      if let use { text += "generator   \(Self.text(use))\n" }
      if let watchedUse {
        let hasEnded = measurements.seconds.last?.watched == nil
        text += "watched     \(Self.text(watchedUse))\(hasEnded ? ", until it ended" : "")\n"
      }
      text += latenciesText + phasesText + streamsText + scenariosText
      if let invalidity { text += "\nINVALID: \(invalidity).\n" }
      return text
    }

    private static func text(_ use: ProcessUsage.Share) -> String {
      "\((use.cores * 100).text(0)) % of a core, \(use.residentBytes.bytesText) of memory"
    }

    /// The latencies. Those of a closed loop have one column, because a request is due when it is sent.
    private var latenciesText: String {
      let all = measurements.all
      guard all.answeredCount > 0 else {
        let reasons = streamFormats.isEmpty ? ["no request was answered"] : streamFormats.map(\.textWithoutAnswer)
        return "\nlatency     none, because \(Self.distinct(reasons).joined(separator: " and "))\n"
      }
      let answers = Self.distinct(streamFormats.map(\.answerText))
      var text = answers.isEmpty ? "" : "\nUntil \(answers.joined(separator: ", or until ")):"
      let columns =
        plan.isOpen ? [("since due", all.sinceDue), ("since sent", all.sinceSent)] : [("since sent", all.sinceSent)]
      func row(_ name: String, _ value: (LatencyHistogram) -> Duration) -> String {
        Self.row(name, columns.map { value($0.1).text })
      }
      text += "\n" + Self.row("latency", columns.map(\.0))
      text += row("mean", \.mean)
      for share in Self.quantiles { text += row("p\(Self.percent(share))") { $0.quantile(share) } }
      return text + row("max", \.max)
    }

    private static func distinct(_ texts: [String]) -> [String] {
      texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// A share as a percentage without needless digits, such as 99.9.
    static func percent(_ share: Double) -> String { (share * 100).text(atMost: 4) }

    private static func row(_ name: String, _ cells: [String]) -> String {
      name.left(18) + cells.map { $0.right(12) }.joined() + "\n"
    }

    private var phasesText: String {
      let phases = RequestPhase.allCases.compactMap { phase in measurements.phases[phase].map { (phase, $0) } }
      guard !phases.isEmpty else { return "" }
      var text = "\n" + Self.row("phase", ["count", "mean", "p50", "p99"])
      for (phase, histogram) in phases {
        let values = [histogram.mean, histogram.quantile(0.5), histogram.quantile(0.99)]
        text += Self.row(phase.name, ["\(histogram.count)"] + values.map(\.text))
      }
      return text
    }

    private var streamsText: String {
      guard let streams = measurements.streams else { return "" }
      let endings = [
        "\(streams.openCount) open at the end", "\(streams.count(.ended)) ended by the server",
        "\(streams.count(.closed)) closed after their time", "\(streams.count(.cut)) cut",
      ]
      var text = "\nstreams     \(streams.openedCount) opened, \(endings.joined(separator: ", "))\n"
      text += "events      \(streams.eventCount), \(eventRate.text(1)) per second\n"
      if streams.messageCount > 0 {
        text += "messages    \(streams.messageCount) sent, \(streams.lateMessageCount) of them late, "
        text += "\(streams.unansweredCount) without an echo, \(streams.unsentMessageCount) not sent\n"
      }
      let rows = streamHistograms.filter { $0.histogram.count > 0 }
      guard !rows.isEmpty else { return text }
      text += "\n" + Self.row("stream", ["count", "mean", "p50", "p90", "p99", "max"])
      for (name, histogram) in rows {
        let values = [histogram.mean] + [0.5, 0.9, 0.99].map { histogram.quantile($0) } + [histogram.max]
        text += Self.row(name, ["\(histogram.count)"] + values.map(\.text))
      }
      return text
    }

    /// The histograms of the streams with their names in texts.
    var streamHistograms: [(name: String, histogram: LatencyHistogram)] {
      guard let streams = measurements.streams else { return [] }
      return [
        ("gap", streams.gaps), ("echo since due", streams.echoesSinceDue), ("echo since sent", streams.echoesSinceSent),
        ("whole stream", streams.durations),
      ]
    }

    private var scenariosText: String {
      guard scenarioNames.count > 1 else { return "" }
      var text =
        "\n\("scenario".left(30))\("completed".right(12))\("errors".right(9))\("p50".right(12))\("p99".right(12))"
        + "\("max".right(12))\n"
      for (name, totals) in zip(scenarioNames, measurements.scenarios) {
        text += name.left(30) + "\(totals.completed)".right(12) + "\(totals.errorCount)".right(9)
        for value in [totals.sinceDue.quantile(0.5), totals.sinceDue.quantile(0.99), totals.sinceDue.max] {
          text += (totals.answeredCount > 0 ? value.text : "-").right(12)
        }
        text += "\n"
      }
      return text
    }

    /// The errors by kind, the most frequent first, and then a line with the cause and the remedy of the first error of each kind.
    private var errorsText: String {
      guard !errors.isEmpty else { return "" }
      let kinds = errors.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      let counts = ": " + kinds.map { "\(Self.words($0.key)) \($0.value)" }.joined(separator: ", ")
      let explanations = kinds.compactMap { kind, _ in
        measurements.all.explanations[kind].map { "\n\("".left(12))\(Self.words(kind)): \($0)" }
      }
      return counts + explanations.joined()
    }

    /// The kind of an error in words: the code of an `EngineError` is a Swift name, such as connectionRefused.
    private static func words(_ kind: String) -> String {
      guard let code = EngineError.Code(rawValue: kind) else { return kind }
      if code == .tlsFailed { return "TLS failed" }
      return kind.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
    }
  }

  extension StreamFormat {
    /// The event at which the latency of an arrival ends.
    fileprivate var answerText: String {
      switch self {
      case .events: "the first event"
      case .lines: "the first line"
      case .echoes: "the WebSocket is open"
      }
    }

    fileprivate var textWithoutAnswer: String {
      switch self {
      case .events: "no event arrived"
      case .lines: "no line arrived"
      case .echoes: "no WebSocket was opened"
      }
    }
  }
#endif
