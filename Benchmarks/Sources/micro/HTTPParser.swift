// Debian's http-parser, as a library that peers/http-parser.c is built into: whoever lacks it can build all the rest.

internal import Glibc

/// The peer's parser.
struct HTTPParser {
  private typealias Parse = @convention(c) (UnsafePointer<UInt8>?, Int, Int) -> Int

  private let function: Parse

  /// Loads the library; nil if it isn't there.
  init?(path: String) {
    guard let library = dlopen(path, RTLD_NOW), let symbol = dlsym(library, "peer_parse") else { return nil }
    // SAFETY: the function has that type in peers/http-parser.c, and the library is never unloaded.
    function = unsafeBitCast(symbol, to: Parse.self)
  }

  /// Parses a head so many times.
  func parse(_ head: [UInt8], times: Int) {
    // SAFETY: the bytes live for the call, and the count is their own.
    let lines = head.withUnsafeBufferPointer { function($0.baseAddress, $0.count, times) }
    precondition(lines > 0, "http-parser didn't take a head")
  }
}
