// The source of every decision in a simulated run: the fuzzer's input while there is some, then numbers from a seed.
//
// It stands in the place of the tests' generator of that name, whose other files are linked into this folder.

import Synchronization

/// What is left of the input that decides. The generators share it, in the order in which they are asked.
enum DecisionTape {
  private static let bytes = Mutex<ArraySlice<UInt8>>([])

  static func load(_ input: [UInt8]) { bytes.withLock { $0 = input[...] } }

  static func next() -> UInt8? { bytes.withLock { $0.popFirst() } }
}

/// The generator that simulated runs and the pool's histories draw from.
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
    // In the upper bits, by which the standard library chooses from a range.
    guard let byte = DecisionTape.next() else { return mixed }
    return UInt64(byte) << 56 | mixed >> 8
  }

  mutating func fork() -> SplitMix64 {
    // A seed of its own, which takes nothing of the tape.
    state &+= 0x9E37_79B9_7F4A_7C15
    return SplitMix64(seed: state &* 0xBF58_476D_1CE4_E5B9)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
}
