// Prewarming: counts the connections that are ready for a caller who has ordered some in advance.

/// A caller's order to open connections in advance. Each of the openings retains it. When the last one has ended, it reports the number
/// of ready connections. Used only on its loop's thread.
final class Prewarming {
  /// Called with the number of connections that were idle at first, or were opened since then.
  typealias Completion = @Sendable (_ readyCount: Int) -> Void

  @exclusivity(unchecked) var readyCount: Int
  private let completion: Completion

  init(readyCount: Int, _ completion: @escaping Completion) {
    self.readyCount = readyCount
    self.completion = completion
  }

  deinit { completion(readyCount) }
}
