// Values decoded from JSON by LupineJSON, compared with Foundation's JSONDecoder.

@testable import LupineJSONDifferential

extension FuzzTarget {
  /// Fuzzes the decoder of JSON. The first eight bytes of the input choose the type and the settings, and the others are the
  /// document. Without others, the eight bytes are the seed of a document.
  static let decoding = FuzzTarget(
    name: "decoding", summary: "LupineJSON returns no value that Foundation's JSONDecoder doesn't return"
  ) { bytes in
    var choice: UInt64 = 0
    for byte in bytes.prefix(8) { choice = choice << 8 | UInt64(byte) }
    let document = Array(bytes.dropFirst(8))
    let outcome =
      document.isEmpty
      ? Comparison.outcome(seed: choice).outcome : Comparison.outcome(of: document, choice: choice)
    if case .wrong(let text) = outcome { hold(false, text) }
  }
}
