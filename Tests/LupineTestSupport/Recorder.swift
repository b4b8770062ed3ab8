// `Recorder`: a queue on which handlers record values, and from which a test awaits them.

internal import Synchronization

/// A queue of elements, which handlers append on any thread, and which a test awaits in order. Only one task may wait at a time.
///
/// The elements pass a lock instead of an AsyncStream. If a task's continuation is resumed before the task waits, ThreadSanitizer
/// doesn't notice that the continuation orders the memory accesses.
package final class Recorder<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  package func record(_ element: Element) { wake { $0.elements.append(element) } }

  /// Waits until `count` further elements have been recorded, and returns these elements. Returns fewer if the task is cancelled.
  package func first(_ count: Int) async -> [Element] {
    var elements: [Element] = []
    while elements.count < count, let element = await next() { elements.append(element) }
    return elements
  }

  /// Waits until another element has been recorded, and returns that element. Returns nil if the task is cancelled.
  package func next() async -> Element? {
    while true {
      let element: Element? = state.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
      if element != nil || Task.isCancelled { return element }
      await withTaskCancellationHandler {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          let isReady = state.withLock { state -> Bool in
            if !state.elements.isEmpty || Task.isCancelled { return true }
            precondition(state.waiter == nil, "two tasks wait for the same recorder")
            state.waiter = continuation
            return false
          }
          if isReady { continuation.resume() }
        }
      } onCancel: {
        wake { _ in }
      }
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      return state.waiter.take()
    }
    waiter?.resume()
  }
}
