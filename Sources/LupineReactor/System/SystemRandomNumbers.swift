// SystemRandomNumbers: random numbers of the kernel, such as the masks of WebSocket frames.

internal import LupineLibc

/// The system's random numbers, from a strong source. They are fetched in groups, because each fetch is a system call.
package struct SystemRandomNumbers: RandomNumberGenerator, Sendable {
  /// The number of numbers in a group: 16, in 128 bytes. getentropy(3) returns at most 256.
  private static let groupCount = 16

  private var numbers: [UInt64] = []

  package init() {}

  package mutating func next() -> UInt64 {
    if let number = numbers.popLast() { return number }
    var group = [UInt64](repeating: 0, count: Self.groupCount)
    // SAFETY: the call writes at most the given number of bytes.
    let isFilled = group.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
    // An old kernel lacks the call.
    guard isFilled, let number = group.popLast() else {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    numbers = group
    return number
  }
}
