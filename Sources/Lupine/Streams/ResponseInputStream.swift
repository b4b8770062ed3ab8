// `ResponseInputStream`: a response's body as an InputStream. Foundation on Linux can't bind two
// streams, so this stream reads from the request.

import Foundation
import Synchronization

/// An `InputStream` that reads a response body while the body arrives. `read` blocks until there are bytes. The stream may be used
/// on any thread, but only on one thread at a time.
final class ResponseInputStream: InputStream {
  private enum Life { case unopened, open, closed }

  private let feed: ResponseFeed
  private let request: DataStreamRequest
  private let life = Mutex(Life.unopened)

  init(_ feed: ResponseFeed, of request: DataStreamRequest) {
    self.feed = feed
    self.request = request
    // The superclass requires data, which is never read.
    super.init(data: Data())
  }

  deinit { stop() }

  override func open() {
    life.withLock { if $0 == .unopened { $0 = .open } }
  }

  /// A textual description: the stream's type, and the request whose response body the stream reads.
  override var description: String { "\(type(of: self))(\(request))" }

  override func close() {
    life.withLock { $0 = .closed }
    stop()
  }

  /// Cancels the request, because its response body no longer has a reader.
  private func stop() {
    if feed.close() { request.cancel() }
  }

  // SAFETY: InputStream's contract gives the caller's buffer room for `count` bytes; at most that many are copied.
  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
    guard life.withLock({ $0 == .open }) else { return -1 }
    guard count > 0 else { return 0 }
    switch feed.next(upTo: count) {
    case .bytes(let data):
      data.copyBytes(to: buffer, count: data.count)
      return data.count
    case .end: return 0
    case .failure: return -1
    }
  }

  // SAFETY: neither pointer is written to, because there is no buffer to return.
  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  /// Whether `read` may still return bytes, possibly after it has waited for them.
  override var hasBytesAvailable: Bool { life.withLock { $0 == .open } && feed.ending == nil }

  override var streamStatus: Stream.Status {
    switch life.withLock({ $0 }) {
    case .unopened: return .notOpen
    case .closed: return .closed
    case .open: break
    }
    switch feed.ending {
    case .success: return .atEnd
    case .failure: return .error
    case nil: return .open
    }
  }

  override var streamError: (any Error)? {
    if case .failure(let error) = feed.ending { error } else { nil }
  }

  // MARK: Overrides, because the superclass would use its own, empty stream

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}

  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
