// StreamTaskInputStream and StreamTaskOutputStream: the streams of a stream task's connection. Foundation on Linux can't bind streams
// to a socket of the engine, so these block the calling thread until the connection has acted.

import Foundation
import Synchronization

/// The life of a captured stream.
private enum StreamLife {
  case unopened
  case open
  case atEnd
  case failed(any Error)
  case closed

  var status: Stream.Status {
    switch self {
    case .unopened: .notOpen
    case .open: .open
    case .atEnd: .atEnd
    case .failed: .error
    case .closed: .closed
    }
  }

  var error: (any Error)? {
    if case .failed(let error) = self { error } else { nil }
  }

  mutating func open() {
    if case .unopened = self { self = .open }
  }

  /// Changes an open stream's state after an operation. A stream that was closed meanwhile stays closed.
  mutating func note(_ life: StreamLife) {
    if case .open = self { self = life }
  }
}

/// Reads from the connection of a captured stream task. `read` blocks until bytes arrive.
final class StreamTaskInputStream: InputStream {
  private let connection: StreamTransfer
  private let life = Mutex(StreamLife.unopened)

  init(_ connection: StreamTransfer) {
    self.connection = connection
    // The superclass requires data, which is never read.
    super.init(data: Data())
  }

  deinit { connection.closeRead(by: .stream) }

  /// A textual description: the stream's type, and the host and port of the connection.
  override var description: String { "\(type(of: self))(\(connection.peer))" }

  override func open() { life.withLock { $0.open() } }

  override func close() {
    life.withLock { $0 = .closed }
    connection.closeRead(by: .stream)
  }

  // SAFETY: InputStream's contract gives the caller's buffer room for `count` bytes; at most that many are copied.
  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
    switch life.withLock({ $0.status }) {
    case .atEnd: return 0
    case .open: break
    default: return -1
    }
    guard count > 0 else { return 0 }
    let outcome: Result<Data, any Error> = blocking { done in
      connection.read(minLength: 1, maxLength: count, timeout: 0, by: .stream) { data, _, error in
        done(error.map { .failure($0) } ?? .success(data ?? Data()))
      }
    }
    switch outcome {
    case .success(let data):
      if data.isEmpty { life.withLock { $0.note(.atEnd) } }
      data.copyBytes(to: buffer, count: data.count)
      return data.count
    case .failure(let error):
      life.withLock { $0.note(.failed(error)) }
      return -1
    }
  }

  // SAFETY: neither pointer is written to, because there is no buffer to return.
  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  /// Whether `read` may still return bytes, possibly after it has waited for them.
  override var hasBytesAvailable: Bool {
    life.withLock { $0.status == .open } && (!connection.isReadingOver || connection.bufferedByteCount > 0)
  }

  override var streamStatus: Stream.Status { life.withLock { $0.status } }
  override var streamError: (any Error)? { life.withLock { $0.error } }

  // MARK: Overrides, because the superclass would use its own, empty stream

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}

/// Writes to the connection of a captured stream task. `write` blocks until the kernel has accepted the bytes.
final class StreamTaskOutputStream: OutputStream {
  private let connection: StreamTransfer
  private let life = Mutex(StreamLife.unopened)

  init(_ connection: StreamTransfer) {
    self.connection = connection
    // The superclass requires a destination, which is never written to.
    super.init(toMemory: ())
  }

  required init(toMemory: ()) { preconditionFailure("a captured stream needs a connection") }

  deinit { connection.closeWrite(by: .stream) }

  /// A textual description: the stream's type, and the host and port of the connection.
  override var description: String { "\(type(of: self))(\(connection.peer))" }

  override func open() { life.withLock { $0.open() } }

  override func close() {
    life.withLock { $0 = .closed }
    connection.closeWrite(by: .stream)
  }

  // SAFETY: OutputStream's contract gives the caller's buffer `count` bytes; exactly these are copied.
  override func write(_ buffer: UnsafePointer<UInt8>, maxLength count: Int) -> Int {
    guard life.withLock({ $0.status == .open }) else { return -1 }
    guard count > 0 else { return 0 }
    let data = Data(bytes: buffer, count: count)
    let failure: (any Error)? = blocking { connection.write(data, timeout: 0, by: .stream, $0) }
    guard let error = failure else { return count }
    life.withLock { $0.note(.failed(error)) }
    return -1
  }

  /// Whether `write` may still accept bytes, possibly after it has waited for room.
  override var hasSpaceAvailable: Bool { life.withLock { $0.status == .open } && !connection.isOver }

  override var streamStatus: Stream.Status { life.withLock { $0.status } }
  override var streamError: (any Error)? { life.withLock { $0.error } }

  // MARK: Overrides, because the superclass would use its own, empty stream

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
