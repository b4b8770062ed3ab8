// SplitMix64+Request: the random number generator for one request of the fuzzer.

internal import LupineRandom

extension SplitMix64 {
  /// Creates the random number generator for the fuzzer's request `number`, so that the request can be repeated without creating
  /// the earlier requests.
  init(seed: UInt64, request number: Int) {
    var first = SplitMix64(seed: seed)
    self.init(seed: first.next() ^ (UInt64(number) &* 0xD6E8_FEB8_6659_FD93))
  }
}
