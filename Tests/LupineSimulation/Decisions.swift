// Decisions: the source of all decisions in a simulated run or a history of the pool: a fuzzer's input, if there is one,
// and numbers derived from a seed.

import LupineRandom
import Synchronization

/// The bytes of a fuzzer's input that haven't been used yet. Each decision takes one byte. All random generators of a run share the
/// tape, and take bytes in the order of their calls.
final class DecisionTape: Sendable {
  private let bytes: Mutex<ArraySlice<UInt8>>

  init(_ input: ArraySlice<UInt8>) { bytes = Mutex(input) }

  func next() -> UInt8? { bytes.withLock { $0.popFirst() } }

  /// Discards the remaining bytes, so that only the seed determines the following decisions.
  func end() { bytes.withLock { $0 = [] } }
}

/// A random number generator for the simulation. Its numbers come from a fuzzer's input, as long as that has bytes, and otherwise
/// from a seed.
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
    // The standard library uses the upper bits to choose from a range, so the byte is placed there.
    guard let byte = tape?.next() else { return number }
    return UInt64(byte) << 56 | number >> 8
  }

  /// Returns a generator for another part of the simulation, so that the parts don't depend on the order of each other's decisions.
  /// Takes no byte of the tape.
  mutating func fork() -> Decisions { Decisions(random.fork(), tape) }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    tape == nil ? random.number(range) : Int.random(in: range, using: &self)
  }
}
