// One handler of a stream: it gets every piece once, in order, on its queue, serialised before if it wants that.

import Foundation
import LupineURLSession
import Synchronization

/// A piece of a body. Once nobody holds it any more, the server may send as much again.
final class StreamPiece: Sendable {
  let data: Data
  private let task: URLSessionTask

  init(_ data: Data, of task: URLSessionTask) {
    self.data = data
    self.task = task
  }

  // Whatever way it went: handled, dropped, or left in a buffer that nobody reads any more.
  deinit { task.grant(data.count) }
}

/// Takes a body in pieces; called on the request's underlying queue.
protocol StreamConsumer: Sendable {
  func take(_ piece: StreamPiece)
  /// The task has ended. What was held back of its pieces is handed over.
  func endRound()
  /// The request is sent again.
  func startAnew()
}

/// Makes something of each piece and hands it over, one after the other whatever queues there are.
final class StreamHandler<Success: Sendable, Failure: Error>: StreamConsumer {
  typealias Stream = DataStreamRequest.Stream<Success, Failure>
  /// Takes what happened, and the piece that it was made of, which may be held until it was dealt with.
  typealias Receive = @Sendable (Stream, StreamPiece?) throws -> Void

  private unowned let request: DataStreamRequest
  /// The caller's queue; the underlying queue if nil.
  private let queue: DispatchQueue?
  /// Where it is called with pieces, one after the other; the underlying queue if nil.
  private let pieceQueue: DispatchQueue?
  /// Where it serialises; the underlying queue if nil.
  private let serializationQueue: DispatchQueue?
  private let aligner: Mutex<(any PieceAligner)?>
  private let isSerialized: Bool
  private let serialize: @Sendable (Data) -> Result<Success, Failure>
  private let receive: Receive

  /// Without serialisation, `serialize` is called at once, and monitors aren't told.
  init(
    _ request: DataStreamRequest, on queue: DispatchQueue, isSerialized: Bool, aligner: (any PieceAligner)?,
    serialize: @escaping @Sendable (Data) -> Result<Success, Failure>, receive: @escaping Receive
  ) {
    self.request = request
    self.queue = queue === request.underlyingQueue ? nil : queue
    pieceQueue = queue.inOrder(behind: request.underlyingQueue)
    serializationQueue = isSerialized ? request.serializationQueue.inOrder(behind: request.underlyingQueue) : nil
    self.aligner = Mutex(aligner)
    self.isSerialized = isSerialized
    self.serialize = serialize
    self.receive = receive
  }

  func take(_ piece: StreamPiece) {
    work { [self, request] in
      // One call for each piece, if need be with nothing.
      let data = aligner.withLock { $0?.align(piece.data) } ?? piece.data
      let result = serialize(data)
      request.root.perform(.atOnce) { self.handOver(result, piece) }
    }
  }

  func endRound() {
    work { [self, request] in
      let rest = aligner.withLock { $0?.takeRest() } ?? Data()
      if rest.isEmpty { return request.handlersAtWork.leave() }
      let result = serialize(rest)
      request.root.perform(.atOnce) { self.handOver(result, nil) }
    }
  }

  func startAnew() {}

  /// Does something where it serialises; `body` sees to it that the group is left.
  private func work(_ body: @escaping @Sendable () -> Void) {
    request.handlersAtWork.enter()
    if let serializationQueue { serializationQueue.async(execute: body) } else { body() }
  }

  private func handOver(_ result: Result<Success, Failure>, _ piece: StreamPiece?) {
    let request = request
    if isSerialized, let monitors = request.streamMonitors {
      monitors.request(
        request,
        didParseStream: result.mapError { error in
          error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
        })
    }
    var isCancelling = false
    if case .failure = result, request.automaticallyCancelOnStreamError, !request.isCancelled {
      isCancelling = true
      request.cancel()
    }
    perform(on: pieceQueue) { [self, isCancelling] in
      defer { request.handlersAtWork.leave() }
      // Nothing behind a cancellation, but for its reason.
      guard isCancelling || !request.isCancelled else { return }
      do {
        try receive(Stream(event: .stream(result), token: .init(request)), piece)
      } catch {
        request.fail(with: error)
      }
    }
  }

  /// The request has ended, and all handlers have had their pieces.
  func complete(_ completion: DataStreamRequest.Completion) {
    let stream = Stream(event: .complete(completion), token: .init(request))
    // Straight on the caller's queue, behind what the request has queued there: on the queue of the pieces it could run
    // along with the last of them. There is nothing left that an error could end.
    perform(on: queue) { [self] in try? receive(stream, nil) }
  }

  private func perform(on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void) {
    if let queue { queue.async(execute: body) } else { body() }
  }
}

extension DispatchQueue {
  /// A serial queue that does its work on this one, which may be concurrent; nil if this is `queue`, which is serial.
  fileprivate func inOrder(behind queue: DispatchQueue) -> DispatchQueue? {
    self === queue ? nil : DispatchQueue(label: label, target: self)
  }
}
