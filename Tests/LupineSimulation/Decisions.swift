// The source of all decisions in a simulated run: first the fuzzer's input, then numbers derived from a seed.
//
// Replaces the generator of the same name in the tests, whose other files are linked into this folder.

import Synchronization

/// The unused rest of the input. All generators share it, in the order of their calls.
enum DecisionTape {
  private static let bytes = Mutex<ArraySlice<UInt8>>([])

  static func load(_ input: [UInt8]) { bytes.withLock { $0 = input[...] } }

  static func next() -> UInt8? { bytes.withLock { $0.popFirst() } }
}

/// The generator of decisions in simulated runs and histories of the pool.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    // The byte is placed in the upper bits, which the standard library uses to choose from a range.
    guard let byte = DecisionTape.next() else { return mixed }
    return UInt64(byte) << 56 | mixed >> 8
  }

  mutating func fork() -> SplitMix64 {
    // The new generator has a separate seed, which doesn't consume bytes of the input.
    state &+= 0x9E37_79B9_7F4A_7C15
    return SplitMix64(seed: state &* 0xBF58_476D_1CE4_E5B9)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
}
