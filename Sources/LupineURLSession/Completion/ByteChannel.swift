// ByteChannel: passes a response's bytes from a task's delegate to the caller that iterates over them.

import Foundation
import Synchronization

/// A queue of body parts with one consumer. The task's receive window limits the number of bytes in the queue.
final class ByteChannel: Sendable {
  /// The next thing that the consumer receives.
  enum Next {
    case part(Data)
    case end
  }

  private struct State {
    var parts: [Data] = []
    /// The index of the oldest part. Removing parts one by one from an array would take quadratic time.
    var first = 0
    var end: Result<Void, any Error>?
    var consumer: CheckedContinuation<Void, Never>?

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

  /// Ends the queue. After the parts that were added so far, the consumer receives the end, or `error` if it isn't nil. Only the
  /// first call has an effect.
  func end(_ error: (any Error)?) {
    wake { state in state.end = state.end ?? (error.map { .failure($0) } ?? .success(())) }
  }

  /// Waits for the next part or the end, and returns it. Throws the error passed to `end`.
  func next() async throws -> Next {
    while true {
      let next = try state.withLock { state -> Next? in
        if let part = state.takePart() { return .part(part) }
        guard let end = state.end else { return nil }
        try end.get()
        return .end
      }
      if let next { return next }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.first < state.parts.count || state.end != nil || state.consumer != nil { return true }
          state.consumer = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let consumer = state.withLock { state in
      change(&state)
      return state.consumer.take()
    }
    consumer?.resume()
  }
}

/// A task's delegate that passes the response's head to a function, and then the body's parts to a channel.
final class ByteFeeder: NSObject, URLSessionDataDelegate, SelectiveDataDelegate, Sendable {
  private let channel: ByteChannel
  private let head: Mutex<(@Sendable (Result<URLResponse, any Error>) -> Void)?>

  /// - Parameters:
  ///   - channel: The channel to which the parts of the body are added.
  ///   - head: Called once, with the response's head, or with the error if the task fails before.
  init(_ channel: ByteChannel, _ head: @escaping @Sendable (Result<URLResponse, any Error>) -> Void) {
    self.channel = channel
    self.head = Mutex(head)
  }

  func needsResponse(of task: URLSessionDataTask) -> Bool { true }

  func needsCachingDecision(for task: URLSessionDataTask) -> Bool { false }

  func keptBody(of task: URLSessionDataTask) -> Data? { nil }

  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void) { completion() }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    answer(.success(response))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { channel.add(data) }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    answer(.failure(error ?? URLError(.badServerResponse)))
    channel.end(error)
  }

  /// Passes the response's head, or the error if the task failed before, to the `head` function. Only the first call has an
  /// effect.
  private func answer(_ result: Result<URLResponse, any Error>) { head.withLock { $0.take() }?(result) }
}
