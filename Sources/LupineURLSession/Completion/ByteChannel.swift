// ByteChannel: passes a response's bytes from a task to the caller that iterates over them.

import Foundation
import Synchronization

/// A queue that passes the parts of a response's body to its consumers, each part to one of them. Usually there is one consumer.
/// The task's receive window limits the number of bytes in the queue.
final class ByteChannel: Sendable {
  private struct State: ~Copyable {
    var parts: [Data] = []
    /// The index of the oldest unread part in `parts`. Removing each part from the front of the array instead would take quadratic
    /// time.
    var first = 0
    var end: Result<Void, any Error>?
    /// The consumers that wait for the next part. Usually only one, for which a `ShortList` allocates no memory.
    var consumers = ShortList<CheckedContinuation<Void, Never>>.none

    mutating func takePart() -> Data? {
      guard first < parts.count else { return nil }
      defer {
        first += 1
        if first == parts.count { (parts, first) = ([], 0) }
      }
      return parts[first]
    }
  }

  private let state = Mutex(State())

  func add(_ part: Data) {
    wake { state in if state.end == nil { state.parts.append(part) } }
  }

  /// Ends the queue. After all parts that were added before, the consumer receives `error` or, if `error` is nil, the end of the
  /// body. Only the first call has an effect.
  func end(_ error: (any Error)?) {
    wake { state in state.end = state.end ?? (error.map { .failure($0) } ?? .success(())) }
  }

  /// Waits for the next part of the body and returns it, or nil at the end of the body. Throws the error that was passed to `end`.
  func next() async throws -> Data? {
    while true {
      let next = state.withLock { state -> Result<Data?, any Error>? in
        if let part = state.takePart() { return .success(part) }
        return state.end?.map { nil }
      }
      if let next { return try next.get() }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.first < state.parts.count || state.end != nil { return true }
          state.consumers.append(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let consumers = state.withLock { state in
      change(&state)
      return exchange(&state.consumers, with: .none)
    }
    consumers.forEach { $0.resume() }
  }
}

/// The collector of a task that an async method awaits. Passes the response's head to a function, and the parts of the body to a
/// channel.
final class ByteFeeder: TaskCollector {
  private let channel: ByteChannel
  private let head: Mutex<(@Sendable (Result<URLResponse, any Error>) -> Void)?>

  /// - Parameters:
  ///   - channel: The queue to which the collector adds the parts of the body.
  ///   - head: A function that is called once: with the response's head, or with the task's error if the task fails before the head
  ///     arrives.
  init(_ channel: ByteChannel, _ head: @escaping @Sendable (Result<URLResponse, any Error>) -> Void) {
    self.channel = channel
    self.head = Mutex(head)
  }

  var decidesOnResponse: Bool { true }

  func accepts(_ response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool {
    answer(.success(response))
    return true
  }

  func receive(_ data: Data, from request: @autoclosure () -> URLRequest?) -> Bool {
    channel.add(data)
    return true
  }

  func complete(_ response: URLResponse?, _ error: (any Error)?) {
    answer(.failure(error ?? URLError(.badServerResponse)))
    channel.end(error)
  }

  /// Calls the `head` function with the response's head, or with the task's error if the task has failed before the head arrived.
  /// Only the first call has an effect.
  private func answer(_ result: Result<URLResponse, any Error>) { head.withLock { $0.take() }?(result) }
}
