// `PatternStream`: an InputStream of the tests' byte pattern, which can fail or be opened again.

import Foundation
import LupineOrigin
import Synchronization

/// An InputStream of the pattern's first `byteCount` bytes, which then ends or, if `failure` is set, fails. A closed stream
/// can be opened again if `canReopen` is true.
final class PatternStream: InputStream {
  private struct State {
    var status = Stream.Status.notOpen
    var offset = 0
    var openCount = 0
  }

  private let byteCount: Int
  private let failure: (any Error)?
  private let canReopen: Bool
  private let state = Mutex(State())

  init(_ byteCount: Int, failingWith failure: (any Error)? = nil, canReopen: Bool = false) {
    self.byteCount = byteCount
    self.failure = failure
    self.canReopen = canReopen
    super.init(data: Data())
  }

  /// Called for each call of `read(_:maxLength:)`.
  var onRead: () -> Void = {}

  var openCount: Int { state.withLock { $0.openCount } }
  /// The number of bytes read since the stream was last opened.
  var offset: Int { state.withLock { $0.offset } }

  override var streamStatus: Stream.Status { state.withLock { $0.status } }
  override var streamError: (any Error)? { state.withLock { $0.status } == .error ? failure : nil }
  override var hasBytesAvailable: Bool { true }

  override func open() {
    state.withLock { state in
      state.status = .open
      state.offset = 0
      state.openCount += 1
    }
  }

  override func close() { state.withLock { $0.status = canReopen ? .notOpen : .closed } }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    onRead()
    return state.withLock { state in
      let count = min(length, byteCount - state.offset)
      if count == 0, failure != nil {
        state.status = .error
        return -1
      }
      buffer.update(from: Pattern.bytes(state.offset..<state.offset + count), count: count)
      state.offset += count
      return count
    }
  }
}
