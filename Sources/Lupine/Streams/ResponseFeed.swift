// ResponseFeed: a buffer between a request, which must not block, and a reader, which may block.

import Foundation
import Synchronization

/// Buffers the bytes of a response body until a reader has read them. Adding bytes never blocks; reading them may.
final class ResponseFeed: StreamConsumer {
  /// The result of reading the next bytes of the response body with `next(upTo:)`.
  enum Next {
    case bytes(Data)
    case end
    case failure
  }

  /// The error of a response body's stream if the request was retried after part of its earlier response had been read.
  struct ReadBeforeRetry: Error, CustomStringConvertible {
    var description: String {
      """
      The request was retried after a part of its earlier response had been read, which can't be undone. \
      Don't retry requests whose response is read as a stream.
      """
    }
  }

  fileprivate struct Part {
    var data: Data
    /// The piece of the body to which `data` belongs, or nil after this object has released the piece. Until then, the piece's
    /// bytes occupy the task's receive window.
    var hold: StreamPiece?
  }

  fileprivate struct State: ~Copyable {
    /// The received parts of the response body. The parts at indices below `first` have been read.
    var parts: [Part] = []
    var first = 0
    var firstHeld = 0
    var unreadByteCount = 0
    var hasBeenRead = false
    /// The final result of the response body, success or an error. Nil while more bytes can follow.
    var ending: Result<Void, any Error>?
    var waiterCount = 0
  }

  private let spareByteCount: Int
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  init(spareByteCount: Int) {
    self.spareByteCount = spareByteCount
  }

  // MARK: The reader's side

  /// Returns at most `count` of the next unread bytes. Blocks until there are unread bytes or the body has ended.
  func next(upTo count: Int) -> Next {
    while true {
      // The pieces are released outside the lock, because releasing them lets the server send more.
      let (next, _) = state.withLock { state -> (Next?, [StreamPiece]) in
        if let data = state.take(upTo: count) { return (.bytes(data), state.release(spare: spareByteCount)) }
        switch state.ending {
        case .success: return (.end, [])
        case .failure: return (.failure, [])
        case nil:
          state.waiterCount += 1
          return (nil, [])
        }
      }
      if let next { return next }
      wake.wait()
    }
  }

  /// The final result of the response body after all its bytes have been read, or nil until then.
  var ending: Result<Void, any Error>? {
    state.withLock { $0.unreadByteCount == 0 ? $0.ending : nil }
  }

  /// Ends the feed because its reader has stopped reading. Returns whether more bytes of the response body could have followed.
  func close() -> Bool { stop(.success(())) }

  // MARK: The request's side

  func take(_ piece: StreamPiece) {
    change { state in
      guard state.ending == nil else { return [] }
      state.parts.append(Part(data: piece.data, hold: piece))
      state.unreadByteCount += piece.data.count
      return state.release(spare: spareByteCount)
    }
  }

  func endRound() {}

  func startAnew() {
    // Drops the unread bytes of the previous attempt. If bytes were already read, the stream fails, because they can't be taken
    // back.
    if state.withLock({ $0.hasBeenRead }) { _ = stop(.failure(ReadBeforeRetry())) } else { change { $0.clear() } }
  }

  /// Ends the feed with the request's error, or successfully if `error` is nil. Called when the request has ended and all pieces
  /// have been added.
  func end(_ error: AFError?) {
    change { state in
      state.ending = state.ending ?? error.map { .failure($0) } ?? .success(())
      return []
    }
  }

  private func stop(_ ending: Result<Void, any Error>) -> Bool {
    var isNew = false
    change { state in
      isNew = state.ending == nil
      if isNew { state.ending = ending }
      return state.clear()
    }
    return isNew
  }

  /// Changes the state by calling `body`, and wakes the waiting readers. The pieces that `body` returns are released
  /// only after the lock has been released.
  private func change(_ body: (inout State) -> [StreamPiece]) {
    let (waiterCount, _) = state.withLock { state in
      let pieces = body(&state)
      defer { state.waiterCount = 0 }
      return (state.waiterCount, pieces)
    }
    for _ in 0..<waiterCount { wake.signal() }
  }
}

extension ResponseFeed.State {
  /// Removes and returns at most `count` bytes of the first unread part. Returns nil if all parts have been read.
  fileprivate mutating func take(upTo count: Int) -> Data? {
    guard first < parts.count else { return nil }
    hasBeenRead = true
    let data = parts[first].data.prefix(count)
    unreadByteCount -= data.count
    parts[first].data = parts[first].data.dropFirst(data.count)
    return data
  }

  /// Returns the pieces whose bytes must no longer occupy the receive window. These are the pieces that were read or, if at most
  /// `spareByteCount` bytes are unread, all pieces. The caller must release them.
  fileprivate mutating func release(spare spareByteCount: Int) -> [StreamPiece] {
    var released: [StreamPiece] = []
    while first < parts.count, parts[first].data.isEmpty {
      if let piece = parts[first].hold.take() { released.append(piece) }
      first += 1
    }
    firstHeld = max(first, firstHeld)
    if unreadByteCount <= spareByteCount {
      while firstHeld < parts.count {
        if let piece = parts[firstHeld].hold.take() { released.append(piece) }
        firstHeld += 1
      }
    }
    // Read parts are removed only when they are the majority, so that each part is moved less than once on average.
    if first > 32, first * 2 > parts.count {
      parts.removeFirst(first)
      firstHeld -= first
      first = 0
    }
    return released
  }

  /// Discards all parts, and returns the pieces of the body that the parts retained.
  fileprivate mutating func clear() -> [StreamPiece] {
    let pieces = parts.compactMap(\.hold)
    (parts, first, firstHeld, unreadByteCount) = ([], 0, 0, 0)
    return pieces
  }
}
