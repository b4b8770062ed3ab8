// What has come of a body and wasn't read: between a request, which must not wait, and a reader, which may.

import Foundation
import Synchronization

/// Pieces of a body on their way to a reader that blocks.
final class ResponseFeed: StreamConsumer {
  /// What a reader gets.
  enum Next {
    case bytes(Data)
    case end
    case failure
  }

  /// The request was sent again when a part of the first response had been read.
  struct ReadBeforeRetry: Error, CustomStringConvertible {
    var description: String {
      """
      The request was sent again, but a part of its earlier response had been read, which can't be taken back. \
      Read streams of requests that no retrier sends again.
      """
    }
  }

  fileprivate struct Part {
    var data: Data
    /// The piece, as long as the server has to wait for its being read.
    var hold: StreamPiece?
  }

  fileprivate struct State {
    /// Those before `first` were read.
    var parts: [Part] = []
    var first = 0
    var firstHeld = 0
    var unreadByteCount = 0
    var hasBeenRead = false
    /// Set once nothing follows.
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

  /// The next bytes, at most `count` of them, as soon as there are some. Blocks.
  func next(upTo count: Int) -> Next {
    while true {
      // The pieces are let go of outside the lock: that grants bytes to the server.
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

  /// Whether everything was read, and if so, what ended it; nil while there is or may come something.
  var ending: Result<Void, any Error>? {
    state.withLock { $0.unreadByteCount == 0 ? $0.ending : nil }
  }

  /// Nobody reads any more; returns whether more might have come.
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
    // What wasn't read is forgotten; what was can't be.
    if state.withLock({ $0.hasBeenRead }) { _ = stop(.failure(ReadBeforeRetry())) } else { change { $0.clear() } }
  }

  /// The request has ended, with all that is to be read.
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

  /// Changes the state, lets go of the pieces that `body` returns, and wakes those who wait.
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
  /// Takes bytes of the first part.
  fileprivate mutating func take(upTo count: Int) -> Data? {
    guard first < parts.count else { return nil }
    hasBeenRead = true
    let data = parts[first].data.prefix(count)
    unreadByteCount -= data.count
    parts[first].data = parts[first].data.dropFirst(data.count)
    return data
  }

  /// The pieces that the server need not wait for: those that were read, and all if few bytes are left.
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
    // Now and then, so that each part is moved less than once.
    if first > 32, first * 2 > parts.count {
      parts.removeFirst(first)
      firstHeld -= first
      first = 0
    }
    return released
  }

  /// Forgets everything.
  fileprivate mutating func clear() -> [StreamPiece] {
    let pieces = parts.compactMap(\.hold)
    (parts, first, firstHeld, unreadByteCount) = ([], 0, 0, 0)
    return pieces
  }
}
