// What every load generator is asked for on its command line, and what it checks. Imports no Foundation, so that the
// engine's generators load none.

internal import Glibc

/// The work: how many requests to which URL, how many of them at once, and what is sent and expected.
public struct Load: Sendable {
  /// The URL to ask; an absolute http or https URL.
  public private(set) var url = ""
  /// Requests that are measured, at least 1; 100,000 by default.
  public private(set) var requests = 100_000
  /// Requests at once, at least 1; 64 by default.
  public private(set) var inFlight = 64
  /// Requests that are sent before, so that connections are open and caches are filled; none by default.
  public private(set) var warmUp = 0
  /// Hosts that the requests go to in turns, at least 1; with more than one, the URL's host is replaced by 127.0.x.y.
  public private(set) var origins = 1
  /// How long every body must be, whatever is in it; nil if it must be `expectedBody`.
  public private(set) var bodyBytes: Int?
  /// A file that every request sends by POST; the response must say how long it is, in decimal digits.
  public private(set) var upload: String?
  /// Where every response is written to, each in place of the one before.
  public private(set) var download: String?
  /// A PEM file with the authorities to trust in place of the system's.
  public private(set) var authorities: String?
  /// Which of its ways to make a request a generator with several is to take.
  public private(set) var mode = ""

  /// The body that every response must have unless something else was asked for.
  public static let expectedBody = Array("Hello, world!".utf8)

  /// The fields that every client sends behind Host, in this order.
  public static let fields = [("User-Agent", "lupine-benchmarks"), ("Accept", "*/*")]

  /// The URLs of the requests, which take them in turns: one for each origin.
  public var urls: [String] {
    guard origins > 1, let host = url.firstRange(of: "127.0.0.1") else { return [url] }
    return (0..<origins).map { url.replacingCharacters(in: host, with: Self.host($0)) }
  }

  /// What the body must be, or nil if its length alone counts.
  public var exactBody: [UInt8]? {
    if let size = uploadBytes { return Array(String(size).utf8) }
    return bodyBytes == nil ? Self.expectedBody : nil
  }

  /// How long the body must be.
  public var expectedBytes: Int { bodyBytes ?? exactBody?.count ?? 0 }

  /// The size of the file to upload, or nil if there is none.
  public let uploadBytes: Int?

  /// Reads the options, each followed by its value, and the URL; ends the process with status 2 if that isn't what
  /// stands there.
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
      case "--body-bytes": bodyBytes = Self.count(rest.popFirst(), atLeast: 0)
      case "--upload": upload = Self.text(rest.popFirst())
      case "--download": download = Self.text(rest.popFirst())
      case "--ca": authorities = Self.text(rest.popFirst())
      case "--mode": mode = Self.text(rest.popFirst())
      default: url = argument
      }
    }
    self.upload = upload
    uploadBytes = upload.map(Self.size)
    if url.isEmpty || url.hasPrefix("-") { Self.usage() }
  }

  /// Ends the process with status 1.
  public static func fail(_ reason: String) -> Never {
    report("\(CommandLine.arguments[0]): \(reason)")
    exit(1)
  }

  /// The size of a file in bytes; ends the process if there is none.
  public static func size(_ path: String) -> Int {
    var facts = stat()
    // SAFETY: the structure lives for the call, which fills it.
    guard stat(path, &facts) == 0 else { fail("there is no file \(path)") }
    return Int(facts.st_size)
  }

  // The same addresses as in server.py.
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
      usage: \(CommandLine.arguments[0]) [--requests N] [--in-flight N] [--warm-up N] [--origins N] [--body-bytes N]
        [--upload FILE] [--download FILE] [--ca FILE] [--mode NAME] URL
      """)
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

extension String {
  fileprivate func firstRange(of part: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(part) }.map { $0..<index($0, offsetBy: part.count) }
  }

  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}
