// SystemRandomNumbersTests: that no number is returned twice.

import LupineReactor
import Testing

@Suite("The system's random numbers")
struct SystemRandomNumbersTests {
  @Test("the numbers differ within a group, between groups and between generators")
  func distinct() {
    var (first, second) = (SystemRandomNumbers(), SystemRandomNumbers())
    #expect(Set((0..<100).flatMap { _ in [first.next(), second.next()] }).count == 200)
  }
}
