// `Recorder`: a queue on which handlers record values, and from which a test awaits them.

/// A queue of elements, which handlers append on any thread, and which a test awaits in order.
package final class Recorder<Element: Sendable>: Sendable {
  private let stream: AsyncStream<Element>
  private let continuation: AsyncStream<Element>.Continuation

  package init() {
    (stream, continuation) = AsyncStream.makeStream()
  }

  package func record(_ element: Element) { continuation.yield(element) }

  /// Waits until `count` further elements have been recorded, and returns these elements.
  package func first(_ count: Int) async -> [Element] {
    var elements: [Element] = []
    if count == 0 { return [] }
    for await element in stream {
      elements.append(element)
      if elements.count == count { break }
    }
    return elements
  }

  /// Waits until another element has been recorded, and returns that element.
  package func next() async -> Element? { await first(1).first }
}
