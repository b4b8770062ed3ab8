// ProgressBar: draws the progress of a download to a file. It only returns the text to print; callers print it.

import LupineEngine
import LupineLibc

/// The progress line on the terminal, which is redrawn while the response's body arrives.
struct ProgressBar {
  /// The minimum time between two drawings of the progress line: 0.1 s.
  static let interval = Duration.milliseconds(100)

  /// The length of the body in bytes, as announced by the server, or nil if it is unknown.
  private let total: UInt64?
  private let start: Instant
  private var received: UInt64 = 0
  private var lastDrawing: Instant

  init(total: UInt64?, now: Instant) {
    self.total = total
    start = now
    lastDrawing = now  // no drawing yet, because a rate needs elapsed time
  }

  /// Counts received bytes. Returns the text that redraws the progress line, or nil if it was drawn less than `interval` ago.
  mutating func advance(by byteCount: Int, now: Instant, width: () -> Int) -> String? {
    received += UInt64(byteCount)
    guard now - lastDrawing >= Self.interval else { return nil }
    lastDrawing = now
    return "\r" + line(now: now, width: width())
  }

  /// Returns the text that draws the progress line for the last time, with a line end.
  func end(now: Instant, width: Int) -> String {
    "\r" + line(now: now, width: width) + "\n"
  }

  /// Returns the progress line: the percentage, a bar, the bytes and the rate, as far as they fit in `width` columns. The last
  /// column stays empty, because some terminals wrap the line when it is filled.
  func line(now: Instant, width: Int) -> String {
    let room = max(width - 1, 0)
    let rate = "\(bytesPerSecond(now).bytesText)/s"
    guard let total, total > 0 else { return fit("\(received.bytesText), \(rate)", room) }
    let share = min(Double(received) / Double(total), 1)
    let percent = "\(Int(share * 100))%".indented(to: 4)
    let numbers = "\(received.bytesText) of \(total.bytesText), \(rate)"
    // Reserves room for long numbers, so that the bar's width rarely changes.
    let barWidth = room - percent.count - 4 - max(numbers.count, 36)
    guard barWidth >= 5 else { return fit("\(percent) \(numbers)", room) }
    let filled = Int(share * Double(barWidth))
    let bar = String(repeating: "=", count: filled).padded(to: barWidth)
    return fit("\(percent) [\(bar)] \(numbers)", room)
  }

  private func bytesPerSecond(_ now: Instant) -> UInt64 {
    let (seconds, attoseconds) = (now - start).components
    let elapsed = Double(seconds) + Double(attoseconds) / 1e18
    return elapsed > 0 ? UInt64(Double(received) / elapsed) : 0
  }

  // Truncates the text, or pads it with spaces to erase the previous line.
  private func fit(_ text: String, _ room: Int) -> String {
    String(text.prefix(room)).padded(to: room)
  }
}

/// The terminal to which standard error is connected.
enum Terminal {
  /// The assumed width of a terminal that doesn't report its width: 80 columns, as on DEC's VT100.
  private static let usualWidth = 80

  static var isThere: Bool { isatty(STDERR_FILENO) == 1 }

  /// The terminal's width in columns.
  static var width: Int {
    var size = winsize()
    // SAFETY: TIOCGWINSZ only writes a winsize.
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return usualWidth }
    return Int(size.ws_col)
  }
}
