// Values encoded as JSON by LupineJSON, compared with Foundation's JSONEncoder.

@testable import LupineJSONDifferential

extension FuzzTarget {
  /// Fuzzes the encoder of JSON. The first eight bytes of the input are the seed of a value and of the settings.
  static let encoding = FuzzTarget(
    name: "encoding", summary: "LupineJSON writes no document that Foundation's JSONEncoder couldn't have written"
  ) { bytes in
    var seed: UInt64 = 0
    for byte in bytes.prefix(8) { seed = seed << 8 | UInt64(byte) }
    if case .wrong(let text) = EncodingComparison.outcome(seed: seed).outcome { hold(false, text) }
  }
}
