// Random numbers that follow from one seed (SplitMix64: Steele, Lea and Flood, OOPSLA 2014). The fuzzer, which links the
// simulation's other files, puts a generator of its own in the place of this one.

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

  /// A generator of its own for a part of the world, so that the parts don't depend on the order of each other's draws.
  mutating func fork() -> SplitMix64 { SplitMix64(seed: next()) }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// True in so many of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { percent > 0 && number(1...100) <= percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

  /// A number of bytes, nearly always small, now and then beyond what a loop reads or queues at once (64 KiB).
  mutating func byteCount() -> Int {
    switch number(0...99) {
    case 0..<10: 0
    case 10..<70: number(1...60)
    case 70..<97: number(61...800)
    case 97..<99: number(801...20_000)
    default: number(50_000...150_000)
    }
  }

  /// A time from a nanosecond up to `milliseconds`, its order of magnitude as random as itself.
  mutating func duration(_ milliseconds: Int) -> Duration {
    let nanosecondsMax = milliseconds * 1_000_000 >> number(0...16)
    return .nanoseconds(number(1...max(nanosecondsMax, 1)))
  }
}
