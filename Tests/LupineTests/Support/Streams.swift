// Functions and doubles for tests of stream requests.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

extension DataStreamRequest {
  /// Adds a stream handler, and returns the parts of the body as text, and the completion, after the request has ended.
  func outcome() async -> (pieces: [String], completion: Completion) {
    let events = Recorder<Stream<Data, Never>>()
    responseStream(on: underlyingQueue) { events.record($0) }
    return await events.untilComplete()
  }
}

extension Recorder {
  /// Waits for the completion of the recorded stream. Returns the parts of the body as text, and the completion.
  func untilComplete() async -> (pieces: [String], completion: DataStreamRequest.Completion)
  where Element == DataStreamRequest.Stream<Data, Never> {
    var pieces: [String] = []
    while let stream = await next() {
      switch stream.event {
      case .stream(.success(let data)): pieces.append(String(decoding: data, as: UTF8.self))
      case .complete(let completion): return (pieces, completion)
      }
    }
    Issue.record("the recorder ended")
    return (pieces, .init(request: nil, response: nil, metrics: nil, error: nil))
  }
}

/// Calls `body` on a new thread, so that `body` may block the thread, and returns the result.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await firstValue { completion in Thread.detachNewThread { completion(body()) } }
}

/// Calls `body` with a server that sends each chunk of its response body when the chunk's gate is open, and ends the body when
/// the last gate is open. Gate 0 is open from the start.
func withChunks<Value>(
  _ chunks: [[UInt8]], _ body: (_ url: String, _ gates: [Gate]) async throws -> Value
) async throws -> Value {
  let gates = chunks.map { _ in Gate() } + [Gate()]
  gates[0].open()
  return try await withOrigin { peer in
    guard try peer.readRequest() != nil else { return }
    try peer.beginChunked(fields: ["Content-Type": "text/plain"])
    for (chunk, gate) in zip(chunks, gates) {
      try peer.wait(for: gate)
      try peer.chunk(chunk)
    }
    try peer.wait(for: gates[chunks.count])
    try peer.endChunked()
    _ = try peer.awaitClose()
  } _: { origin in
    try await body(origin.url, gates)
  }
}

/// A retrier that retries each request once, whatever the error.
struct OneRetry: RequestInterceptor {
  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    completion(request.retryCount == 0 ? .retry : .doNotRetry)
  }
}
