// What every load generator is asked for on its command line, and what it checks. Imports no Foundation, so that the
// engine's generators load none.

internal import Glibc

/// The work: how many requests to which URL, and how many of them at once.
public struct Load: Sendable {
  /// The URL to ask; an absolute http URL.
  public private(set) var url = ""
  /// Requests that are measured, at least 1; 100,000 by default.
  public private(set) var requests = 100_000
  /// Requests at once, at least 1; 64 by default.
  public private(set) var inFlight = 64
  /// Requests that are sent before, so that connections are open and caches are filled; none by default.
  public private(set) var warmUp = 0

  /// The body that every response must have.
  public static let expectedBody = Array("Hello, world!".utf8)

  /// The fields that every client sends behind Host, in this order.
  public static let fields = [("User-Agent", "lupine-benchmarks"), ("Accept", "*/*")]

  /// Reads `[--requests N] [--in-flight N] [--warm-up N] URL`; ends the process with status 2 if that isn't what stands
  /// there.
  public static func fromCommandLine() -> Load {
    var load = Load()
    var rest = CommandLine.arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--requests": load.requests = count(rest.popFirst(), atLeast: 1)
      case "--in-flight": load.inFlight = count(rest.popFirst(), atLeast: 1)
      case "--warm-up": load.warmUp = count(rest.popFirst(), atLeast: 0)
      default: load.url = argument
      }
    }
    if load.url.isEmpty || load.url.hasPrefix("-") { usage() }
    return load
  }

  /// Ends the process with status 1.
  public static func fail(_ reason: String) -> Never {
    report("\(CommandLine.arguments[0]): \(reason)")
    exit(1)
  }

  private static func count(_ text: String?, atLeast least: Int) -> Int {
    guard let count = text.flatMap({ Int($0) }), count >= least else { usage() }
    return count
  }

  private static func usage() -> Never {
    report("usage: \(CommandLine.arguments[0]) [--requests N] [--in-flight N] [--warm-up N] http://HOST:PORT/PATH")
    exit(2)
  }

  private static func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { buffer in
      // SAFETY: the buffer lives for the call, and the count is its own.
      write(STDERR_FILENO, buffer.baseAddress, buffer.count)
    }
  }
}
