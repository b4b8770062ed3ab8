// WireErrorTests: descriptions of errors, which quote a bounded and harmless part of the peer's bytes.

import LupineWire
import Testing

@Suite("WireError")
struct WireErrorTests {
  @Test(
    "error messages shorten received bytes, and escape those that could control a terminal or reorder the line",
    arguments: [
      ("x", "\"x\""), (String(repeating: "x", count: 64), "\"" + String(repeating: "x", count: 64) + "\""),
      (String(repeating: "x", count: 65), "\"" + String(repeating: "x", count: 64) + "…\""),
      ("a\r\nb\u{1B}[2J", "\"a\u{FFFD}\u{FFFD}b\u{FFFD}[2J\""),
      ("\u{9B}2J\u{202E}x\u{2028}", "\"\u{FFFD}2J\u{FFFD}x\u{FFFD}\""),
      ("a\u{2029}b\u{E000}c\u{FFFF}d", "\"a\u{FFFD}b\u{FFFD}c\u{FFFD}d\""), ("é 漢", "\"é 漢\""),
    ])
  func quoted(text: String, expected: String) {
    let errors: [WireError] = [
      .notHTTP(prefix: text), .unsupportedVersion(text), .malformedContentLength(text),
      .unsupportedTransferCoding(text), .invalidMethod(text), .invalidRequestFieldName(text),
      .invalidRequestFieldValue(name: text, byte: 0),
    ]
    for error in errors { #expect(error.description.contains(expected), "\(error.description)") }
  }

  @Test(
    "the error for an exceeded parsing limit contains the limit and the name of its setting",
    arguments: [
      (.headTooLarge(limit: 987), "headBytesMax"), (.tooManyFields(limit: 987), "fieldLinesMax"),
      (.tooManyInformational(limit: 987), "informationalMax"), (.chunkLineTooLong(limit: 987), "chunkLineBytesMax"),
      (.chunkExtensionsTooLong(limit: 987), "chunkExtensionBytesMax"),
      (.trailersTooLarge(limit: 987), "trailerBytesMax"),
      (.tooManyTransferCodings(limit: 987), "transferCodingsMax"),
    ] as [(WireError, String)])
  func limits(error: WireError, name: String) {
    #expect(error.description.contains("987"))
    #expect(error.description.contains("Limits.\(name)"))
    #expect(!error.isCallersFault && !error.isTruncation)
  }
}
