// Decisions+Draws: random choices, sizes and durations for the simulated world.

extension Decisions {
  /// Returns true with a probability of `percent` percent.
  mutating func chance(_ percent: Int) -> Bool { percent > 0 && number(1...100) <= percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

  /// Returns a random number of bytes. It is usually small, and occasionally more than the 64 KiB that a loop reads or queues at
  /// once.
  mutating func byteCount() -> Int {
    switch number(0...99) {
    case 0..<10: 0
    case 10..<70: number(1...60)
    case 70..<97: number(61...800)
    case 97..<99: number(801...20_000)
    default: number(50_000...150_000)
    }
  }

  /// Returns a random duration from 1 ns up to `milliseconds`, whose order of magnitude is random too.
  mutating func duration(_ milliseconds: Int) -> Duration {
    let nanosecondsMax = milliseconds * 1_000_000 >> number(0...16)
    return .nanoseconds(number(1...max(nanosecondsMax, 1)))
  }
}
