// LoadReport+HTML: the report as one HTML file without scripts and without references to other files.

#if Bench
  internal import LupineLibc
  internal import LupineWire

  extension LoadReport {
    private static let colors = ["#1a7f5a", "#c4511b", "#7a4fbf", "#20639b"]
    /// The colors of the phases, in their order.
    private static let phaseColors = ["#7a4fbf", "#20639b", "#8a6d1f", "#c4511b", "#1a7f5a"]

    /// The report as an HTML page, with diagrams as SVG.
    public func html(title: String) -> String {
      """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title.xmlEscaped)</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <style>
      body { font: 15px/1.45 system-ui, sans-serif; max-width: 900px; margin: 2em auto; padding: 0 1em; color: #222; }
      h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 2em 0 0; }
      pre { background: #f6f6f4; padding: 1em; overflow-x: auto; font-size: 13px; }
      .legend span { margin-right: 1.2em; } .invalid { background: #fde8e0; padding: 0.8em 1em; }
      svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: #666; } .grid { stroke: #e4e4e0; }
      </style></head><body>
      <h1>\(title.xmlEscaped)</h1>
      \(invalidity.map { "<p class=\"invalid\"><strong>Invalid:</strong> \($0.xmlEscaped).</p>" } ?? "")
      \(latencyPlot.html)\(latencyQuantilePlot.html)\(ratePlot.html)\(errorPlot?.html ?? "")\(phasePlot.html)\(streamPlots.map(\.html).joined())\(processorPlot.html)
      <h2>Figures</h2>
      <pre>\(text.xmlEscaped)</pre>
      </body></html>

      """
    }

    private var plottedSeconds: [SecondRow] { wholeSeconds.isEmpty ? measurements.seconds : wholeSeconds }

    /// A line of a figure over the time of the test. Seconds without a value are left out.
    private func line(
      _ name: String, _ color: Int, _ rows: [SecondRow], _ value: (SecondRow) -> Double?
    ) -> Plot.Line {
      let points = rows.compactMap { row in value(row).map { (x: row.time.seconds, y: $0) } }
      return Plot.Line(name: name, color: Self.colors[color], points: points)
    }

    /// A diagram of durations over the time of the test.
    private func durationPlot(_ title: String, _ lines: [Plot.Line]) -> Plot {
      Plot(title: title, lines: lines, yScale: .logarithmic, yText: { Duration.seconds($0).text })
    }

    private var latencyPlot: Plot {
      let rows = plottedSeconds.filter { $0.max > .zero }
      return durationPlot(
        plan.isOpen ? "Latency since due over time" : "Latency over time",
        [
          line("p50", 0, rows) { $0.p50.seconds }, line("p99", 1, rows) { $0.p99.seconds },
          line("max", 2, rows) { $0.max.seconds },
        ])
    }

    private var latencyQuantilePlot: Plot {
      // In a closed loop, a request is due when it is sent.
      let sinceDue = plan.isOpen ? [quantileLine("since due", Self.colors[1], measurements.all.sinceDue)] : []
      return quantilePlot(
        "Latency by percentile",
        sinceDue + [quantileLine("since sent", Self.colors[0], measurements.all.sinceSent)]
          + zip(
            streamHistograms.filter { $0.histogram.count > 0 }, [Self.colors[2], Self.colors[3], "#8a6d1f", "#666666"]
          )
          .map { quantileLine($0.name, $1, $0.histogram) })
    }

    private func quantileLine(_ name: String, _ color: String, _ histogram: LatencyHistogram) -> Plot.Line {
      // The horizontal axis is 1/(1 - quantile), so that each factor of ten is one more nine.
      let distances = (0...60).map { pow(10, Double($0) / 10) }
      let shown = distances.filter { $0 <= max(10, Double(histogram.count)) }
      return Plot.Line(
        name: name, color: color, points: shown.map { ($0, histogram.quantile(1 - 1 / $0).seconds) })
    }

    private func quantilePlot(_ title: String, _ lines: [Plot.Line]) -> Plot {
      Plot(
        title: title, lines: lines,
        xScale: .logarithmic, yScale: .logarithmic, xText: { "p\(Self.percent(1 - 1 / $0))" },
        yText: { Duration.seconds($0).text }, xTicks: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000])
    }

    private var ratePlot: Plot {
      let rows = plottedSeconds
      var lines = [
        line("completed per second", 0, rows) { $0.rate }, line("in flight", 3, rows) { Double($0.inFlight) },
      ]
      if plan.isOpen { lines.append(line("target", 1, rows) { $0.target }) }
      return Plot(title: "Rate", lines: lines)
    }

    private var errorPlot: Plot? {
      let rows = measurements.seconds
      guard rows.contains(where: { $0.counts.errors > 0 || $0.counts.unsent > 0 }) else { return nil }
      return Plot(
        title: "Errors and requests not sent",
        lines: [
          line("errors", 1, rows) { Double($0.counts.errors) }, line("not sent", 2, rows) { Double($0.counts.unsent) },
        ])
    }

    /// The streams over time, and their gaps and echoes.
    private var streamPlots: [Plot] {
      guard measurements.streams != nil else { return [] }
      let rows = plottedSeconds
      return [
        Plot(
          title: "Streams",
          lines: [
            line("open", 3, rows) { Double($0.streams?.openCount ?? 0) },
            line("events per second", 0, rows) { $0.eventRate },
          ]),
        durationPlot(
          "Gaps between events over time",
          [
            line("p50", 0, rows) { $0.streams?.gapP50?.seconds }, line("p99", 1, rows) { $0.streams?.gapP99?.seconds },
          ]),
        durationPlot(
          "Echo latency since due over time",
          [
            line("p50", 0, rows) { $0.streams?.echoP50?.seconds },
            line("p99", 1, rows) { $0.streams?.echoP99?.seconds },
          ]),
      ]
    }

    /// The percentiles of each phase.
    private var phasePlot: Plot {
      let lines = zip(RequestPhase.allCases, Self.phaseColors).compactMap { phase, color in
        measurements.phases[phase].map { quantileLine(phase.name, color, $0) }
      }
      return quantilePlot("Phases by percentile", lines)
    }

    private var processorPlot: Plot {
      let lines = [
        line("generator", 0, plottedSeconds) { $0.usage.map { $0.cores * 100 } },
        line("watched process", 1, plottedSeconds) { $0.watched.map { $0.cores * 100 } },
      ].filter { !$0.points.isEmpty }
      return Plot(title: "Processor, in % of a core", lines: lines)
    }
  }
#endif
