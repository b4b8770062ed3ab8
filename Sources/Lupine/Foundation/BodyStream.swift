// A request's body as a stream, on its way to whoever sends it.

import Dispatch
import Foundation

// Unchecked since InputStream isn't Sendable: the references are constant, and the stream is touched on the queue alone.
// Who gave the stream away has to leave it alone once the request is sent.
/// An InputStream that is read piece by piece, off the threads of tasks, since reading may wait. It equals a box of the
/// same stream.
final class BodyStream: Hashable, @unchecked Sendable {
  let stream: InputStream
  private let queue = DispatchQueue(label: "lupine.body.stream")

  init(_ stream: InputStream) {
    self.stream = stream
  }

  /// Opens the stream, unless that was done already.
  ///
  /// Throws `URLError.requestBodyStreamExhausted` if it was closed: what is in it has been sent.
  func open() async throws {
    try await onQueue { stream in
      switch stream.streamStatus {
      case .closed: throw URLError(.requestBodyStreamExhausted)
      case .notOpen: stream.open()
      default: break
      }
    }
  }

  /// The next bytes, none at the end; at most `count`. Throws the stream's error.
  func read(upToCount count: Int) async throws -> [UInt8] {
    try await onQueue { try $0.readBytes(upToCount: count) }
  }

  /// Closes the stream, behind a read that is still under way.
  func close() {
    queue.async { self.stream.close() }
  }

  private func onQueue<Value: Sendable>(_ body: @escaping @Sendable (InputStream) throws -> Value) async throws -> Value
  {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body(self.stream) }) }
    }
  }

  static func == (left: BodyStream, right: BodyStream) -> Bool { left.stream === right.stream }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(stream)) }
}

extension InputStream {
  /// Bytes of an open stream, at most `count` of them and none at its end.
  func readBytes(upToCount count: Int) throws -> [UInt8] {
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
