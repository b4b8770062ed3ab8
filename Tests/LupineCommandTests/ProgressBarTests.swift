// ProgressBarTests: the lines of the progress bar, without a terminal.

@testable import LupineCommand
import LupineEngine
import Testing

@Suite("The command's progress bar")
struct ProgressBarTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test(
    "if the body's length is known, the progress line shows the percentage, a bar, the number of bytes and the rate")
  func known() {
    var bar = ProgressBar(total: 1000, now: start)
    _ = bar.advance(by: 500, now: start + .seconds(1)) { 80 }
    let line = bar.line(now: start + .seconds(2), width: 80)
    #expect(line == (" 50% [=================" + "".padded(to: 18) + "] 500 B of 1000 B, 250 B/s").padded(to: 79))
    #expect(line.count == 79)
  }

  @Test("if the body's length is unknown, the progress line shows the number of bytes and the rate")
  func unknown() {
    var bar = ProgressBar(total: nil, now: start)
    _ = bar.advance(by: 3 * 1024 * 1024, now: start) { 80 }
    #expect(bar.line(now: start + .seconds(2), width: 30) == "3.0 MiB, 1.5 MiB/s".padded(to: 29))
  }

  @Test("the progress line is never wider than the terminal", arguments: [0, 1, 5, 20, 40, 55, 60, 200])
  func narrow(width: Int) {
    var bar = ProgressBar(total: 7, now: start)
    _ = bar.advance(by: 9, now: start) { width }
    #expect(bar.line(now: start, width: width).count == max(width - 1, 0))
  }

  @Test("the command draws the progress bar at most ten times per second, and once more at the end")
  func interval() {
    var bar = ProgressBar(total: 100, now: start)
    #expect(bar.advance(by: 1, now: start + .milliseconds(99)) { 20 } == nil)
    #expect(bar.advance(by: 1, now: start + .milliseconds(100)) { 20 } != nil)
    #expect(bar.advance(by: 1, now: start + .milliseconds(199)) { 20 } == nil)
    let end = bar.end(now: start + .milliseconds(200), width: 20)
    #expect(end.hasPrefix("\r  3% ") && end.hasSuffix("\n"))
  }

  @Test(
    "the progress line shows numbers of bytes with binary units",
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1023.9 KiB"),
      (268_435_456, "256.0 MiB"), (UInt64.max, "15.9 EiB"),
    ])
  func units(count: UInt64, text: String) {
    #expect(count.bytesText == text)
  }
}
