// Load: the command line options of the load generators, and the expected responses. Doesn't import Foundation, so that
// the engine's generators don't load it.

internal import Glibc

/// The work of a load generator, as its command line describes it: the URL, the number of requests, their concurrency, and the
/// expected responses.
public struct Load: Sendable {
  /// The absolute http or https URL to request.
  public private(set) var url = ""
  /// The number of requests to measure, at least 1. The default is 100,000.
  public private(set) var requests = 100_000
  /// The number of concurrent requests, at least 1. The default is 64.
  public private(set) var inFlight = 64
  /// The number of requests to send before the measurement, in order to open connections and fill caches. The default is 0.
  public private(set) var warmUp = 0
  /// The number of origins to request in turn, at least 1. If there are several, 127.0.x.y replaces the URL's host.
  public private(set) var origins = 1
  /// The number of different URLs to request in turn at each origin, at least 1. If there are several, each has its own query. The
  /// default is 1.
  public private(set) var paths = 1
  /// Whether the requests of `load-api` use the cache of default sessions. If not, the session has no cache, so that each request
  /// reaches the server. The default is false.
  public private(set) var usesCache = false
  /// The expected length of each response body in bytes. If this is set, the content of the body isn't checked. If this is nil,
  /// each body must equal `expectedBody`.
  public private(set) var bodyBytes: Int?
  /// The path of a file to send in each request by POST. The response body must be the file's size in decimal digits. Nil for GET
  /// requests.
  public private(set) var upload: String?
  /// The path of a file to which each response body is written, in place of the previous one. Nil if no file is written.
  public private(set) var download: String?
  /// The path of a PEM file with the certificate authorities to trust instead of the system's.
  public private(set) var authorities: String?
  /// For generators that can make requests in several ways: the name of the way. The default is empty.
  public private(set) var mode = ""
  /// For how many microseconds a loop polls for replies before it sleeps. The default is 0.
  public private(set) var busyPollMicroseconds = 0

  /// The response body that each request must receive, unless an option changes it.
  public static let expectedBody = Array("Hello, world!".utf8)

  /// The header fields that every load generator sends after Host, in this order.
  public static let fields = [("User-Agent", "lupine-benchmarks"), ("Accept", "*/*")]

  /// The URLs to request in turn: `paths` URLs per origin.
  public var urls: [String] {
    let urls = paths == 1 ? [url] : (0..<paths).map { "\(url)?\($0)" }
    guard origins > 1, let host = url.firstRange(of: "127.0.0.1") else { return urls }
    return urls.flatMap { url in (0..<origins).map { url.replacingCharacters(in: host, with: Self.host($0)) } }
  }

  /// The response body that each request must receive, or nil if only the body's length is checked.
  public var exactBody: [UInt8]? {
    if let size = uploadBytes { return Array(String(size).utf8) }
    return bodyBytes == nil ? Self.expectedBody : nil
  }

  /// The length in bytes that each response body must have.
  public var expectedBytes: Int { bodyBytes ?? exactBody?.count ?? 0 }

  /// The size in bytes of the file to upload, or nil if there is none.
  public let uploadBytes: Int?

  /// Parses the command line: options that are each followed by a value, and the URL. If the command line is invalid, ends the
  /// process with status 2.
  public static func fromCommandLine() -> Load {
    Load(CommandLine.arguments.dropFirst())
  }

  private init(_ arguments: ArraySlice<String>) {
    var rest = arguments
    var upload: String?
    while let argument = rest.popFirst() {
      switch argument {
      case "--requests": requests = Self.count(rest.popFirst(), atLeast: 1)
      case "--in-flight": inFlight = Self.count(rest.popFirst(), atLeast: 1)
      case "--warm-up": warmUp = Self.count(rest.popFirst(), atLeast: 0)
      case "--origins": origins = Self.count(rest.popFirst(), atLeast: 1)
      case "--paths": paths = Self.count(rest.popFirst(), atLeast: 1)
      case "--cache": usesCache = Self.count(rest.popFirst(), atLeast: 0) > 0
      case "--body-bytes": bodyBytes = Self.count(rest.popFirst(), atLeast: 0)
      case "--upload": upload = Self.text(rest.popFirst())
      case "--download": download = Self.text(rest.popFirst())
      case "--ca": authorities = Self.text(rest.popFirst())
      case "--mode": mode = Self.text(rest.popFirst())
      case "--busy-poll": busyPollMicroseconds = Self.count(rest.popFirst(), atLeast: 0)
      default: url = argument
      }
    }
    self.upload = upload
    uploadBytes = upload.map(Self.size)
    if url.isEmpty || url.hasPrefix("-") { Self.usage() }
  }

  /// Prints the reason to standard error, and ends the process with status 1.
  public static func fail(_ reason: String) -> Never {
    report("\(CommandLine.arguments[0]): \(reason)")
    exit(1)
  }

  /// Returns the size of a file in bytes. If the file doesn't exist, ends the process with status 1.
  public static func size(_ path: String) -> Int {
    var facts = stat()
    // SAFETY: the structure is valid during the call, which initializes it.
    guard stat(path, &facts) == 0 else { fail("there is no file \(path)") }
    return Int(facts.st_size)
  }

  // The addresses must be those on which server.py listens.
  private static func host(_ index: Int) -> String { "127.0.\(1 + index / 250).\(1 + index % 250)" }

  private static func text(_ text: String?) -> String {
    guard let text else { usage() }
    return text
  }

  private static func count(_ text: String?, atLeast least: Int) -> Int {
    guard let count = text.flatMap({ Int($0) }), count >= least else { usage() }
    return count
  }

  private static func usage() -> Never {
    report(
      """
      usage: \(CommandLine.arguments[0]) [--requests N] [--in-flight N] [--warm-up N] [--origins N] [--paths N]
        [--cache 0|1] [--body-bytes N] [--upload FILE] [--download FILE] [--ca FILE] [--mode NAME] [--busy-poll MICROSECONDS] URL
      """)
    exit(2)
  }

  private static func report(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { buffer in
      // SAFETY: the buffer is valid during the call, and the count is its size.
      write(STDERR_FILENO, buffer.baseAddress, buffer.count)
    }
  }
}

extension String {
  fileprivate func firstRange(of part: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(part) }.map { $0..<index($0, offsetBy: part.count) }
  }

  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}
