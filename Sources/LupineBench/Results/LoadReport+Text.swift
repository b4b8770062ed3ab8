// LoadReport+Text: the report as a table for terminals.

#if Bench
  extension LoadReport {
    /// The report as text for a terminal.
    public var text: String {
      var text = ""
      let all = measurements.all
      if case .open = plan.loop {
        text += "due         \(dueCount) requests in \(duration.seconds.text(1)) s\n"
        text +=
          "not sent    \(unsentCount)" + (unsentCount > 0 ? ", because \(plan.inFlightMax) were in flight\n" : "\n")
        text += "sent late   \(lateCount) by more than 5 ms; p99 \(measurements.delays.quantile(0.99).text), "
        text += "max \(measurements.delays.max.text)\n"
      }
      text += "completed   \(completedCount), \(rate.text(1)) per second, \(all.receivedBytes.bytesText) of bodies\n"
      text += "errors      \(errors.values.reduce(0, +)) (\((errorShare * 100).text(2)) %)\(list(errors))\n"
      text +=
        "statuses   \(all.statuses.sorted { $0.key < $1.key }.map { " \($0.key): \($0.value)" }.joined(separator: ","))\n"
      text += "connections \(openedConnectionCount) opened"
      text += connectionsOpenedInAdvance > 0 ? ", \(connectionsOpenedInAdvance) of them in advance\n" : "\n"
      if let use {
        text += "generator   \((use.cores * 100).text(0)) % of a core, \(use.residentBytes.bytesText) of memory\n"
      }
      if measurements.streams != nil { text += "\nUntil the first event, or until a WebSocket is open:" }
      text += "\n\("latency".left(18))\("since due".right(12))\("since sent".right(12))\n"
      text += row("mean", all.sinceDue.mean, all.sinceSent.mean)
      for share in Self.quantiles {
        text += row("p\(Self.percent(share))", all.sinceDue.quantile(share), all.sinceSent.quantile(share))
      }
      text += row("max", all.sinceDue.max, all.sinceSent.max)
      text += phasesText + streamsText + scenariosText
      if let invalidity { text += "\nINVALID: \(invalidity).\n" }
      return text
    }

    /// A share as a percentage without needless digits, such as 99.9.
    static func percent(_ share: Double) -> String {
      var text = (share * 100).text(4)
      while text.last == "0" { text.removeLast() }
      if text.last == "." { text.removeLast() }
      return text
    }

    private var phasesText: String {
      let phases = RequestPhase.allCases.compactMap { phase in measurements.phases[phase].map { (phase, $0) } }
      guard !phases.isEmpty else { return "" }
      var text = "\n\("phase".left(18))\("count".right(12))\("mean".right(12))\("p50".right(12))\("p99".right(12))\n"
      for (phase, histogram) in phases {
        text += phase.name.left(18) + "\(histogram.count)".right(12)
        for value in [histogram.mean, histogram.quantile(0.5), histogram.quantile(0.99)] {
          text += value.text.right(12)
        }
        text += "\n"
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
      let titles = ["count", "mean", "p50", "p90", "p99", "max"]
      text += "\n\("stream".left(18))\(titles.map { $0.right(12) }.joined())\n"
      for (name, histogram) in rows {
        text += name.left(18) + "\(histogram.count)".right(12)
        let quantiles = [0.5, 0.9, 0.99].map { histogram.quantile($0) }
        for value in [histogram.mean] + quantiles + [histogram.max] { text += value.text.right(12) }
        text += "\n"
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
          text += value.text.right(12)
        }
        text += "\n"
      }
      return text
    }

    private func row(_ name: String, _ due: Duration, _ sent: Duration) -> String {
      name.left(18) + due.text.right(12) + sent.text.right(12) + "\n"
    }

    private func list(_ counts: [String: Int]) -> String {
      counts.isEmpty
        ? ""
        : ": "
          + counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
          .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
  }
#endif
