// RequestQueues: the queues of a session's requests, and the session's choice of a decoder and an encoder for JSON.

import Foundation
import LupineURLSession
import Synchronization

/// The queues of a session's requests. Each request refers to all of them with one reference.
final class RequestQueues: Sendable {
  /// The root queue of the session.
  let underlying: DispatchQueue
  let serialization: DispatchQueue
  /// Runs closures on the root queue, in the order in which they are submitted.
  let root: SerialQueue
  /// Whether the `URLSession` calls its delegate on `root`. If so, all work that must run on the underlying queue runs on `root`.
  let deliversOnRoot: Bool
  /// Whether only Foundation decodes JSON. See `Session.decodesWithFoundation`.
  let decodesWithFoundation = Atomic(false)
  /// Whether only Foundation encodes JSON. See `Session.encodesWithFoundation`.
  let encodesWithFoundation = Atomic(false)

  /// `delivery` is the queue on which the `URLSession` calls its delegate. It is reused if it is based on the root queue.
  init(_ underlying: DispatchQueue, serialization: DispatchQueue, delivery: SerialQueue) {
    self.underlying = underlying
    self.serialization = serialization
    deliversOnRoot = delivery.isBased(on: underlying)
    root = deliversOnRoot ? delivery : SerialQueue(underlying)
  }

  /// Calls a closure that creates a request, with the session's choice of an encoder.
  @inline(__always)
  func encoding<Value>(_ create: () throws -> Value) rethrows -> Value {
    guard encodesWithFoundation.load(ordering: .relaxed) else { return try create() }
    return try JSONChoice.$encodesWithFoundation.withValue(true) { try create() }
  }

  /// Calls a closure that serializes a response, with the session's choice of a decoder.
  @inline(__always)
  func decoding<Value>(_ serialize: () throws -> Value) rethrows -> Value {
    guard decodesWithFoundation.load(ordering: .relaxed) else { return try serialize() }
    return try JSONChoice.$decodesWithFoundation.withValue(true) { try serialize() }
  }

  /// Traps, in debug builds, if the caller doesn't run on the root queue. Not checked if the `URLSession` calls its delegate on
  /// another queue, which only has the root queue's label.
  func assertOnRoot() {
    #if DEBUG
      if deliversOnRoot { dispatchPrecondition(condition: .onQueue(underlying)) }
    #endif
  }
}

/// Whether only Foundation decodes and encodes JSON in the current thread.
enum JSONChoice {
  @TaskLocal static var decodesWithFoundation = false
  @TaskLocal static var encodesWithFoundation = false
}

extension DispatchQueue {
  /// A serial queue for the work of this queue, which may be concurrent: this queue itself if it is the main queue, otherwise a new
  /// queue that targets it.
  var serialized: DispatchQueue {
    // Compares labels instead of objects, because `DispatchQueue.main` returns a different object at each access on Linux.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
