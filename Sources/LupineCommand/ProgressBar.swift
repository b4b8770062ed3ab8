// The progress of a download into a file: what is drawn is decided here, by the arrival of data; nothing is printed.

import Glibc
import LupineEngine

/// One line that is drawn again and again.
struct ProgressBar {
  /// The shortest time between two drawings: a tenth of a second.
  static let interval = Duration.milliseconds(100)

  /// The length that the server has announced, in bytes.
  private let total: UInt64?
  private let start: Instant
  private var received: UInt64 = 0
  private var lastDrawing: Instant

  init(total: UInt64?, now: Instant) {
    self.total = total
    start = now
    lastDrawing = now  // a rate over no time says nothing
  }

  /// Takes note of bytes; returns what is to be printed, or nil if the line was drawn just now.
  mutating func advance(by byteCount: Int, now: Instant, width: () -> Int) -> String? {
    received += UInt64(byteCount)
    guard now - lastDrawing >= Self.interval else { return nil }
    lastDrawing = now
    return "\r" + line(now: now, width: width())
  }

  /// The last drawing and its line end.
  func end(now: Instant, width: Int) -> String {
    "\r" + line(now: now, width: width) + "\n"
  }

  /// Percent, a bar, bytes and rate, as far as the width allows; a column is left free, since some terminals go to
  /// the next line when the last one is filled.
  func line(now: Instant, width: Int) -> String {
    let room = max(width - 1, 0)
    let rate = "\(bytesPerSecond(now).bytesText)/s"
    guard let total, total > 0 else { return fit("\(received.bytesText), \(rate)", room) }
    let share = min(Double(received) / Double(total), 1)
    let percent = "\(Int(share * 100))%".indented(to: 4)
    let numbers = "\(received.bytesText) of \(total.bytesText), \(rate)"
    // The numbers' width changes little, so that the bar seldom does.
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

  // Spaces cover what a longer line has left.
  private func fit(_ text: String, _ room: Int) -> String {
    String(text.prefix(room)).padded(to: room)
  }
}

/// The terminal behind standard error.
enum Terminal {
  /// The width that is assumed if the terminal doesn't tell: 80 columns, as DEC's VT100 had.
  private static let usualWidth = 80

  static var isThere: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns.
  static var width: Int {
    var size = winsize()
    // SAFETY: TIOCGWINSZ fills in a winsize, and touches nothing else.
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return usualWidth }
    return Int(size.ws_col)
  }
}
