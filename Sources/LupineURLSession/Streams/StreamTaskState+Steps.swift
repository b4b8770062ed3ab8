// StreamTaskState+Steps: performs the operations that can be performed, and ends the task.

import Foundation

extension StreamTaskState {
  /// Performs the operations that can be performed now.
  mutating func advance() -> [Action] {
    guard case .open = life, !demand.isSuspended, !isSecuring else { return [] }
    var actions: [Action] = []
    while case .open = life, !isSecuring {
      guard advanceReads(&actions) || advanceWrites(&actions) || advanceBarrier(&actions) else { break }
    }
    if isDone { actions += end(nil) }
    return actions
  }

  /// Whether both directions have ended and no operation waits.
  var isDone: Bool {
    guard case .open = life, case .closed = writing, reads.isEmpty, writes.isEmpty, !isSecuring else { return false }
    return reading == .closed || (reading == .ended && unread.isEmpty)
  }

  /// Performs the first read operation if possible. Returns whether it is done.
  mutating func advanceReads(_ actions: inout [Action]) -> Bool {
    switch reads.first {
    case nil, .barrier: return false
    case .close:
      reads.removeFirst()
      if reading == .open {
        actions.append(.notifyReadClosed)
        // Discards what the peer still sends, so that neither it nor the rest of this direction's peer is blocked.
        actions.append(.extendWindow(.max))
      }
      reading = .closed
      unread = Data()
      return true
    case .work(let read):
      if reading == .closed {
        reads.removeFirst()
        actions.append(.failRead(read.id, .readingClosed))
        return true
      }
      let isComplete = unread.count >= max(1, read.range.lowerBound) || read.range.upperBound == 0
      guard isComplete || reading == .ended else {
        extendWindow(for: read, &actions)
        return false
      }
      reads.removeFirst()
      let bytes = takeUnread(min(read.range.upperBound, unread.count))
      actions.append(.completeRead(read.id, bytes, isAtEnd: reading == .ended && unread.isEmpty))
      return true
    }
  }

  mutating func extendWindow(for read: Read, _ actions: inout [Action]) {
    let wanted = max(read.range.lowerBound, min(read.range.upperBound, Self.readAheadBytesMax))
    let missing = wanted - unread.count - windowBytes
    guard missing > 0 else { return }
    windowBytes += missing
    actions.append(.extendWindow(missing))
  }

  mutating func takeUnread(_ count: Int) -> Data {
    // The indices of delivered data start at 0.
    let bytes = count == unread.count ? unread : Data(unread.prefix(count))
    unread = count == unread.count ? Data() : Data(unread.dropFirst(count))
    return bytes
  }

  /// Performs the first write operation if possible. Returns whether it is done.
  mutating func advanceWrites(_ actions: inout [Action]) -> Bool {
    switch writes.first {
    case nil, .barrier: return false
    case .close:
      writes.removeFirst()
      // After a write that may have been sent in part, the peer must not take the data for complete.
      if case .open = writing { actions += [.endWriting, .notifyWriteClosed] }
      writing = .closed
      return true
    case .work(var write):
      if case .closed = writing {
        writes.removeFirst()
        actions.append(.completeWrite(write.id, .writingClosed))
        return true
      }
      while write.offset < write.data.count, fedByteCount - sentByteCount < UInt64(Self.unsentBytesMax) {
        let room = Self.unsentBytesMax - Int(fedByteCount - sentByteCount)
        let start = write.data.startIndex + write.offset
        let piece = [UInt8](write.data[start..<min(start + room, write.data.endIndex)])
        actions.append(.write(piece))
        write.offset += piece.count
        fedByteCount += UInt64(piece.count)
      }
      writes[0] = .work(write)
      guard write.offset == write.data.count, sentByteCount >= fedByteCount else { return false }
      writes.removeFirst()
      actions.append(.completeWrite(write.id, nil))
      return true
    }
  }

  /// Performs the barrier that is the first in both queues. Returns whether there is one.
  mutating func advanceBarrier(_ actions: inout [Action]) -> Bool {
    guard case .barrier(let id, let barrier)? = reads.first, case .barrier(id, _)? = writes.first else { return false }
    switch barrier {
    case .capture:
      removeBarrier()
      isCaptured = true
      actions.append(.capture)
    case .secure where isSecure: removeBarrier()
    case .secure:
      guard unread.isEmpty else {
        actions += end(.unreadBytes(unread.count))
        return true
      }
      guard reading == .open, case .open = writing else {
        actions += end(.halfClosed)
        return true
      }
      isSecuring = true
      actions.append(.startTLS)
    }
    return true
  }

  mutating func removeBarrier() {
    reads.removeFirst()
    writes.removeFirst()
  }

  // MARK: Ending

  /// Ends the task with an error or, if nil, successfully.
  mutating func end(_ failure: StreamFailure?) -> [Action] {
    switch life {
    case .ending, .ended: return []
    case .unstarted:
      life = .ended(failure)
      return failAll(failure ?? .readingClosed) + [.finish(failure)]
    case .connecting, .open:
      life = .ending(failure)
      return failAll(failure ?? .readingClosed) + [failure == nil ? .close : .cancel]
    }
  }

  mutating func failAll(_ failure: StreamFailure) -> [Action] {
    defer { (reads, writes, unread) = ([], [], Data()) }
    return reads.compactMap { $0.operation.map { .failRead($0.id, failure) } }
      + writes.compactMap { $0.operation.map { .completeWrite($0.id, failure) } }
  }

  // MARK: Time limits

  func startTimer(_ id: OperationID, _ timeout: TimeInterval) -> [Action] {
    guard timeout > 0, timeout.isFinite, !demand.isSuspended else { return [] }
    if case .unstarted = life { return [] }
    return [.startTimer(Timer(operation: id, run: run), timeout)]
  }

  func startTimers() -> [Action] {
    reads.compactMap(\.operation).flatMap { startTimer($0.id, $0.timeout) }
      + writes.compactMap(\.operation).flatMap { startTimer($0.id, $0.timeout) }
  }
}
