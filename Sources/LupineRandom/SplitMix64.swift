// SplitMix64: reproducible random numbers, for the command `lupine fuzz` and the tests. Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators" (OOPSLA 2014).

/// A random number generator whose sequence depends only on its seed.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a new generator, which is seeded with the next number of this one. If each part of a program has its own generator,
  /// the order in which the parts draw numbers doesn't change the numbers that each part gets.
  package mutating func fork() -> SplitMix64 { SplitMix64(seed: next()) }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }
}
