// Decisions: the source of all decisions in a simulated run or a history of the pool: a fuzzer's input, if there is one,
// and numbers derived from a seed.

import LupineRandom
import Synchronization

/// The unused rest of a fuzzer's input, one byte for each decision. All generators of a run share it, in the order of
/// their calls.
final class DecisionTape: Sendable {
  private let bytes: Mutex<ArraySlice<UInt8>>

  init(_ input: ArraySlice<UInt8>) { bytes = Mutex(input) }

  func next() -> UInt8? { bytes.withLock { $0.popFirst() } }

  /// Drops the rest, so that only the seed decides.
  func end() { bytes.withLock { $0 = [] } }
}

/// The generator of decisions.
struct Decisions: RandomNumberGenerator, Sendable {
  private var random: SplitMix64
  private let tape: DecisionTape?

  init(seed: UInt64, tape: DecisionTape? = nil) { self.init(SplitMix64(seed: seed), tape) }

  private init(_ random: SplitMix64, _ tape: DecisionTape?) {
    self.random = random
    self.tape = tape
  }

  mutating func next() -> UInt64 {
    let number = random.next()
    // The byte is placed in the upper bits, which the standard library uses to choose from a range.
    guard let byte = tape?.next() else { return number }
    return UInt64(byte) << 56 | number >> 8
  }

  /// Returns a separate generator for one part of the world, so that the parts don't depend on the order of each
  /// other's draws. It takes no byte of the tape.
  mutating func fork() -> Decisions { Decisions(random.fork(), tape) }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    tape == nil ? random.number(range) : Int.random(in: range, using: &self)
  }
}
