// What micro-growth is asked for on its command line.

internal import Glibc

/// How many of everything.
struct Options {
  private(set) var origins = 1
  private(set) var connections = 64
  /// Loops that share the requests, those to one origin too.
  private(set) var loops = 1
  private(set) var requests = 1000
  private(set) var inFlight = 64
  /// Where the server listens on 127.0.0.1.
  private(set) var port = 0

  /// Reads the command line; ends the process if something else stands there.
  init() {
    var rest = CommandLine.arguments.dropFirst()
    while let name = rest.popFirst() {
      guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { Self.usage() }
      switch name {
      case "--origins": origins = value
      case "--connections": connections = value
      case "--loops": loops = value
      case "--requests": requests = value
      case "--in-flight": inFlight = value
      case "--port": port = value
      default: Self.usage()
      }
    }
    if port == 0 { Self.usage() }
  }

  private static func usage() -> Never {
    print("usage: micro-growth [--origins N] [--connections N] [--loops N] [--requests N] [--in-flight N] --port N")
    exit(2)
  }
}
