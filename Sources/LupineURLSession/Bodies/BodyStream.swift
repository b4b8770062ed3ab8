// BodyStream: reads a request body's InputStream on a dispatch queue.

import Dispatch
package import Foundation
import Synchronization

// Unchecked because InputStream isn't Sendable. The stream and `readingCount` are used only on the dispatch queue. Each stream has
// only one BodyStream and therefore one queue. The application must not use the stream after it has started the request.
/// Reads a request body's InputStream in pieces on a dispatch queue, because reading may block the thread. Two `BodyStream` objects
/// with the same stream are equal.
package final class BodyStream: Hashable, @unchecked Sendable {
  /// One pass over the stream, from its first byte to its end. Sending the request again requires another pass.
  struct Reading {
    fileprivate let number: Int
    /// The number of bytes that this pass has read so far.
    fileprivate(set) var byteCount: UInt64 = 0
  }

  package let stream: InputStream
  private let queue = DispatchQueue(label: "lupine.body.stream")
  private var readingCount = 0

  private static let boxes = Mutex<[ObjectIdentifier: WeakBox]>([:])

  /// A weak reference to a `BodyStream`. This is a class, because Swift 6.3 crashes on a dictionary of structs with weak
  /// references.
  private final class WeakBox {
    weak var box: BodyStream?
    /// The identity of the referenced `BodyStream`, which remains available after that object has been released.
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
    // While this object was being deallocated, another BodyStream of the same stream may have replaced it in the dictionary.
    Self.boxes.withLock { if $0[key]?.owner == ObjectIdentifier(self) { $0[key] = nil } }
  }

  /// Returns the only `BodyStream` of an InputStream. If a request is retried with the same stream, both attempts share that
  /// `BodyStream`, so that the new attempt reads the stream only after the previous attempt's read has ended.
  package static func box(_ stream: InputStream) -> BodyStream {
    boxes.withLock { boxes in
      let key = ObjectIdentifier(stream)
      if let existing = boxes[key]?.box { return existing }
      let box = BodyStream(stream)
      boxes[key] = WeakBox(box)
      return box
    }
  }

  /// Starts a pass over the stream from its first byte, and opens the stream unless the application has already opened it. Calls to
  /// `read` for earlier passes then fail.
  ///
  /// Throws `URLError.requestBodyStreamExhausted` if the stream has been read before and can't be opened again.
  func open() async throws -> Reading {
    try await onQueue {
      if self.readingCount > 0 { self.stream.close() }
      self.readingCount += 1
      switch self.stream.streamStatus {
      case .notOpen: self.stream.open()
      case .open where self.readingCount == 1: break
      case .error: throw BodyStreamFailure(self.stream, at: 0)
      default: throw URLError(.requestBodyStreamExhausted, Self.exhausted)
      }
      return Reading(number: self.readingCount)
    }
  }

  /// Reads up to `count` bytes of the stream. Returns an empty array at the end of the stream.
  ///
  /// Throws a `BodyStreamFailure` if the stream can't be read, or `CancellationError` if a later call to `open` has started another
  /// pass over the stream.
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

  /// Closes the stream after a read in progress has ended. Has no effect if a later call to `open` has started another pass over
  /// the stream.
  func close(_ reading: Reading) {
    queue.async { if self.readingCount == reading.number { self.stream.close() } }
  }

  private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Whether the stream has been read before and therefore can't be read again. Must not be called while the stream is being read.
  var isExhausted: Bool {
    switch stream.streamStatus {
    case .atEnd, .closed, .error: true
    default: false
    }
  }

  static let exhausted =
    "The body stream was already read and can't be read again. Send data or a file, or provide a new stream."

  package static func == (left: BodyStream, right: BodyStream) -> Bool { left.stream === right.stream }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(stream)) }
}

/// The error for a body stream that can't be read.
struct BodyStreamFailure: Error, CustomStringConvertible {
  /// The error that the stream has reported, or `CocoaError.fileReadUnknown` if it has reported none.
  let underlying: any Error
  let description: String

  init(_ stream: InputStream, at byteCount: UInt64, _ error: (any Error)? = nil) {
    let error = error ?? stream.failure
    underlying = error
    description = "\(type(of: stream)) failed after \(byteCount) bytes: \(ReadableText.error(error))"
  }
}

extension InputStream {
  /// Reads up to `count` bytes of an open stream. Returns an empty array at the end of the stream.
  package func readBytes(upToCount count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let bytesRead = read(&bytes, maxLength: count)
    if bytesRead >= 0 {
      bytes.removeLast(count - bytesRead)
      return bytes
    }
    throw failure
  }

  /// The reason why the stream can't be read.
  fileprivate var failure: any Error {
    // Foundation on Linux traps when `streamError` is read and there is no error.
    (streamStatus == .error ? streamError : nil) ?? CocoaError(.fileReadUnknown)
  }
}
