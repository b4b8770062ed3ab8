// SplitMix64: random numbers derived from one seed (Steele, Lea and Flood, OOPSLA 2014). The fuzzer links the
// simulation's other files and replaces this one with its own generator.

/// The source of every decision in a simulated run.
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
    return mixed ^ (mixed >> 31)
  }

  /// Returns a separate generator for one part of the world, so that the parts don't depend on the order of each
  /// other's draws.
  mutating func fork() -> SplitMix64 { SplitMix64(seed: next()) }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }
}
