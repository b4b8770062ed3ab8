// BenchDisplay: the progress of a load test on standard error: a block that redraws on a terminal, and otherwise a line per second.

#if Bench
  import LupineBench
  import Synchronization

  final class BenchDisplay: Sendable {
    private static let barWidth = 40
    private let isTerminal = Terminal.isThere
    /// The number of lines to draw over.
    private let lineCount = Mutex(0)
    private let lastSecond = Mutex(0)

    /// Shows a second of the test. After the last response, the rest of a second follows, which is shown if it is at least half a
    /// second.
    func show(_ progress: LoadProgress) {
      let second = wholeSeconds(progress.time)
      let isNew = lastSecond.withLock { last in
        defer { last = max(last, second) }
        return second > last
      }
      guard isNew else { return }
      let time = "\(second) s of \(wholeSeconds(progress.duration)) s"
      let rate =
        "\(Int(progress.rate.rounded())) per second"
        + (progress.target > 0 ? " of \(Int(progress.target.rounded()))" : "")
      let counts = "\(progress.inFlight) in flight, \(progress.errors) errors, \(progress.unsent) not sent"
      let streams = streamText(progress)
      guard isTerminal else {
        let latencies =
          progress.quantile(1) == .zero
          ? "no answers" : "p50 \(text(progress, 0.5)), p99 \(text(progress, 0.99)), max \(text(progress, 1))"
        return StandardError.write("\(time): \(rate), \(latencies), \(counts)\(streams.map { ", \($0)" } ?? "")\n")
      }
      var lines = ["\(time)  \(rate)  \(counts)"] + [streams].compactMap(\.self)
      let longest = max(progress.quantile(0.999) / .microseconds(1), 1)
      for share in [0.5, 0.9, 0.99, 0.999] {
        let width = Int(Double(Self.barWidth) * (progress.quantile(share) / .microseconds(1)) / longest)
        let bar = String(repeating: "█", count: min(max(width, 1), Self.barWidth))
        lines.append("p\(name(share)) ".indented(to: 6) + text(progress, share).indented(to: 10) + "  " + bar)
      }
      lineCount.withLock { count in
        let back = count > 0 ? "\u{1B}[\(count)A" : ""
        StandardError.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined())
        count = lines.count
      }
    }

    /// Ends the display, so that later output begins on a new line.
    func end() {
      if isTerminal { StandardError.write("\n") }
    }

    private func streamText(_ progress: LoadProgress) -> String? {
      guard let streams = progress.streams else { return nil }
      var text = "\(streams.openCount) streams open, \(Int(streams.eventRate.rounded())) events per second"
      if let gap = streams.gapP99 { text += ", gap p99 \(gap.millisecondsText) ms" }
      if let echo = streams.echoP99 { text += ", echo p99 \(echo.millisecondsText) ms" }
      return text
    }

    private func wholeSeconds(_ duration: Duration) -> Int { Int((duration / .seconds(1)).rounded()) }

    private func name(_ share: Double) -> String { share == 0.999 ? "99.9" : "\(Int(share * 100))" }

    private func text(_ progress: LoadProgress, _ share: Double) -> String {
      progress.quantile(share).millisecondsText + " ms"
    }
  }
#endif
