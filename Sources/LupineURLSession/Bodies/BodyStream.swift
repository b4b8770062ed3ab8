// A request's body as a stream, on its way to whoever sends it.

import Dispatch
package import Foundation
import Synchronization

// Unchecked since InputStream isn't Sendable: the stream and the count of its readings are touched on the queue alone, and
// there is one box, and so one queue, for a stream. Who gave the stream away has to leave it alone once the request is sent.
/// An InputStream that is read piece by piece, off the threads of tasks, since reading may wait. It equals a box of the
/// same stream.
package final class BodyStream: Hashable, @unchecked Sendable {
  /// One reading of a stream from its start.
  struct Reading {
    fileprivate let number: Int
    /// Bytes that were read so far.
    fileprivate(set) var byteCount: UInt64 = 0
  }

  package let stream: InputStream
  private let queue = DispatchQueue(label: "lupine.body.stream")
  private var readingCount = 0

  private static let boxes = Mutex<[ObjectIdentifier: WeakBox]>([:])

  /// A class, since Swift 6.3 crashes on a dictionary of structs that hold weak references.
  private final class WeakBox {
    weak var box: BodyStream?
    /// Whose it is, without keeping it alive.
    let owner: ObjectIdentifier

    init(_ box: BodyStream) {
      self.box = box
      owner = ObjectIdentifier(box)
    }
  }

  private init(_ stream: InputStream) {
    self.stream = stream
  }

  deinit {
    let key = ObjectIdentifier(stream)
    // Another box may stand there already, which was made when this one could no longer be had.
    Self.boxes.withLock { if $0[key]?.owner == ObjectIdentifier(self) { $0[key] = nil } }
  }

  /// The box of a stream, whoever asks: a request that is sent again, with the same stream, comes behind its first sending.
  package static func box(_ stream: InputStream) -> BodyStream {
    boxes.withLock { boxes in
      let key = ObjectIdentifier(stream)
      if let existing = boxes[key]?.box { return existing }
      let box = BodyStream(stream)
      boxes[key] = WeakBox(box)
      return box
    }
  }

  /// Opens the stream, unless its owner has done that. Whoever was reading it before is refused from now on.
  ///
  /// Throws `URLError.requestBodyStreamExhausted` if it was read before, unless it can be opened again.
  func open() async throws -> Reading {
    try await onQueue {
      if self.readingCount > 0 { self.stream.close() }
      self.readingCount += 1
      switch self.stream.streamStatus {
      case .notOpen: self.stream.open()
      case .open where self.readingCount == 1: break
      case .error: throw BodyStreamFailure(self.stream, at: 0)
      default: throw URLError(.requestBodyStreamExhausted, userInfo: [NSLocalizedDescriptionKey: Self.exhausted])
      }
      return Reading(number: self.readingCount)
    }
  }

  /// The next bytes, none at the end; at most `count`.
  ///
  /// Throws a `BodyStreamFailure`, or `CancellationError` if the stream is read from its start by somebody else.
  func read(upToCount count: Int, _ reading: inout Reading) async throws -> [UInt8] {
    let (number, byteCount) = (reading.number, reading.byteCount)
    let bytes = try await onQueue {
      guard self.readingCount == number else { throw CancellationError() }
      do {
        return try self.stream.readBytes(upToCount: count)
      } catch {
        throw BodyStreamFailure(self.stream, at: byteCount, error)
      }
    }
    reading.byteCount += UInt64(bytes.count)
    return bytes
  }

  /// Closes the stream, behind a read that is still under way.
  func close(_ reading: Reading) {
    queue.async { if self.readingCount == reading.number { self.stream.close() } }
  }

  private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  private static let exhausted =
    "The body stream was already read and can't be read again. Send data or a file, or provide a new stream."

  package static func == (left: BodyStream, right: BodyStream) -> Bool { left.stream === right.stream }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(stream)) }
}

/// A stream that couldn't be read to its end.
struct BodyStreamFailure: Error, CustomStringConvertible {
  /// What the stream says, if it says anything.
  let underlying: any Error
  let description: String

  init(_ stream: InputStream, at byteCount: UInt64, _ error: (any Error)? = nil) {
    // Foundation on Linux traps when a stream is asked for an error that it doesn't have.
    let error = error ?? (stream.streamStatus == .error ? stream.streamError : nil) ?? CocoaError(.fileReadUnknown)
    underlying = error
    description = "\(type(of: stream)) failed after \(byteCount) bytes: \(error.localizedDescription)"
  }
}

extension InputStream {
  /// Bytes of an open stream, at most `count` of them and none at its end.
  package func readBytes(upToCount count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let bytesRead = read(&bytes, maxLength: count)
    if bytesRead >= 0 {
      bytes.removeLast(count - bytesRead)
      return bytes
    }
    // Foundation on Linux traps when a stream is asked for an error that it doesn't have.
    if streamStatus == .error, let streamError { throw streamError }
    throw CocoaError(.fileReadUnknown)
  }
}
