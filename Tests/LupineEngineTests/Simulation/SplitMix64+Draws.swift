// What the simulated world draws besides numbers.

extension SplitMix64 {
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
