// `StreamHandler`: serializes the pieces of a streamed body, and delivers each once, in order, to a handler on its queue.

import Foundation
import LupineURLSession
import Synchronization

/// Serializes each piece of a response body, and passes the value to the caller's handler. The handler is called serially, even if
/// the caller's queue is concurrent.
final class StreamHandler<Success: Sendable, Failure: Error>: StreamConsumer {
  typealias Stream = DataStreamRequest.Stream<Success, Failure>
  /// A closure that receives each event, and the piece of the body from which the event was made, or nil if there is none. The
  /// closure may retain the piece until it has processed the event. If the closure throws an error, the request fails with that
  /// error.
  typealias Receive = @Sendable (Stream, StreamPiece?) throws -> Void

  private unowned let request: DataStreamRequest
  /// The queue that the caller chose for its handler, or nil if that is the request's underlying queue.
  private let queue: DispatchQueue?
  /// The serial queue on which the handler is called with pieces of the body, or nil for the underlying queue.
  private let pieceQueue: DispatchQueue?
  /// The serial queue on which pieces of the body are serialized, or nil for the underlying queue.
  private let serializationQueue: DispatchQueue?
  private let aligner: Mutex<(any PieceAligner)?>
  private let isSerialized: Bool
  private let serialize: @Sendable (Data) -> Result<Success, Failure>
  private let receive: Receive

  /// Creates a handler for the pieces of the response body of `request`. If `isSerialized` is false, `serialize` runs on the
  /// underlying queue, and monitors aren't notified of its results.
  init(
    _ request: DataStreamRequest, on queue: DispatchQueue, isSerialized: Bool, aligner: (any PieceAligner)?,
    serialize: @escaping @Sendable (Data) -> Result<Success, Failure>, receive: @escaping Receive
  ) {
    self.request = request
    self.queue = queue === request.underlyingQueue ? nil : queue
    pieceQueue = self.queue?.serialized
    let serializationQueue = request.serializationQueue
    let serializesElsewhere = isSerialized && serializationQueue !== request.underlyingQueue
    self.serializationQueue = serializesElsewhere ? serializationQueue.serialized : nil
    self.aligner = Mutex(aligner)
    self.isSerialized = isSerialized
    self.serialize = serialize
    self.receive = receive
  }

  func take(_ piece: StreamPiece) {
    work { [self, request] in
      // Each piece causes one delivery, even if the aligner holds back all of its bytes.
      let data = aligner.withLock { $0?.align(piece.data) } ?? piece.data
      let result = serialize(data)
      request.root.perform(.immediate) { self.handOver(result, piece) }
    }
  }

  func endRound() {
    work { [self, request] in
      let rest = aligner.withLock { $0?.takeRest() } ?? Data()
      if rest.isEmpty { return request.handlersAtWork.leave() }
      let result = serialize(rest)
      request.root.perform(.immediate) { self.handOver(result, nil) }
    }
  }

  func startAnew() {}

  /// Enters the group `handlersAtWork`, and then runs `body` on the serialization queue. `body` must leave the group, immediately
  /// or later.
  private func work(_ body: @escaping @Sendable () -> Void) {
    request.handlersAtWork.enter()
    if let serializationQueue { serializationQueue.async(execute: body) } else { body() }
  }

  private func handOver(_ result: Result<Success, Failure>, _ piece: StreamPiece?) {
    let request = request
    if isSerialized, let monitors = request.monitors {
      monitors.request(request, didParseStream: result.mapError { $0.asSerializationFailure })
    }
    var isCancelling = false
    if case .failure = result, request.automaticallyCancelOnStreamError, !request.isCancelled {
      isCancelling = true
      request.cancel()
    }
    perform(on: pieceQueue) { [self, isCancelling] in
      defer { request.handlersAtWork.leave() }
      // After a cancellation, only the error that caused it is delivered.
      guard isCancelling || !request.isCancelled else { return }
      do {
        try receive(Stream(event: .stream(result), token: .init(request)), piece)
      } catch {
        request.fail(with: error)
      }
    }
  }

  /// Calls the handler with the request's completion. Called when the request has ended and all handlers have processed their
  /// pieces.
  func complete(_ completion: DataStreamRequest.Completion) {
    let stream = Stream(event: .complete(completion), token: .init(request))
    // Delivers on the caller's queue, after the work that the request has enqueued on it. On the queue of the pieces, this call
    // could run concurrently with the last handlers. An error that the handler throws is ignored, because the request has
    // already ended.
    perform(on: queue) { [self] in try? receive(stream, nil) }
  }

  private func perform(on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void) {
    if let queue { queue.async(execute: body) } else { body() }
  }
}
