// What an error says: one sentence with a remedy, and never more of a peer's bytes than a log can bear.

import LupineWire
import Testing

@Suite("WireError")
struct WireErrorTests {
  @Test(
    "what is quoted is cut, and can't steer a terminal or reorder a line",
    arguments: [
      ("x", "\"x\""), (String(repeating: "x", count: 64), "\"" + String(repeating: "x", count: 64) + "\""),
      (String(repeating: "x", count: 65), "\"" + String(repeating: "x", count: 64) + "…\""),
      ("a\r\nb\u{1B}[2J", "\"a\u{FFFD}\u{FFFD}b\u{FFFD}[2J\""),
      ("\u{9B}2J\u{202E}x\u{2028}", "\"\u{FFFD}2J\u{FFFD}x\u{FFFD}\""),
      ("é 漢", "\"é 漢\""),
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
    "a limit's error names the limit and how to raise it",
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
