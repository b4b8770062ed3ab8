// The command line options of micro-growth.

internal import Glibc

/// The command line options of micro-growth: the numbers of origins, connections, loops and requests.
struct Options {
  private(set) var origins = 1
  private(set) var connections = 64
  /// The number of event loops that share the requests. With several, even the requests to one origin are shared.
  private(set) var loops = 1
  private(set) var requests = 1000
  private(set) var inFlight = 64
  /// The port on which the server listens on 127.0.0.1.
  private(set) var port = 0

  /// Parses the command line. If it is invalid, prints the usage and ends the process with status 2.
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
