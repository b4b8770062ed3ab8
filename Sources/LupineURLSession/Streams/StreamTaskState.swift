// StreamTaskState: decides what a stream task does. An event goes in, actions come out. It knows no engine, clock or delegate.

import Foundation

/// The state of a stream task: its operations in order, the progress of both directions, and TLS.
///
/// Reads are performed in order, and so are writes. A read and a write may be in progress at the same time. An operation that
/// concerns both directions (TLS, capturing) is a barrier: it waits in both queues until it is the first in each.
struct StreamTaskState {
  typealias OperationID = Int

  /// The maximum number of bytes that are read ahead for one read operation: 256 KiB, one bulk read of the engine. A larger minimum
  /// length of the operation takes precedence. It is also the maximum number of received bytes that wait for a read operation.
  static let readAheadBytesMax = 256 * 1024
  /// The maximum number of bytes of a write that the engine holds before the kernel has accepted them: 256 KiB.
  static let unsentBytesMax = 256 * 1024

  /// The time limit of an operation. It starts again when a suspended task is resumed, and the earlier timer no longer counts.
  struct Timer: Hashable, Sendable {
    let operation: OperationID
    let run: Int
  }

  enum Action: Equatable {
    case connect
    case extendWindow(Int)
    case write([UInt8])
    /// Closes the sending direction.
    case endWriting
    case startTLS
    case startTimer(Timer, TimeInterval)
    case completeRead(OperationID, Data, isAtEnd: Bool)
    case failRead(OperationID, StreamFailure)
    /// Completes a write with an error or, if nil, successfully.
    case completeWrite(OperationID, StreamFailure?)
    case notifyReadClosed
    case notifyWriteClosed
    /// Passes the connection to streams, and completes the task without further calls of its delegate.
    case capture
    /// Closes the connection, after which `ended` is called.
    case close
    /// Aborts the connection, after which `ended` is called.
    case cancel
    /// Completes the task.
    case finish(StreamFailure?)
  }

  enum Life {
    case unstarted
    case connecting
    case open
    /// The engine is closing the connection. The task completes with the associated error, or successfully.
    case ending(StreamFailure?)
    case ended(StreamFailure?)
  }

  enum Reading {
    case open
    /// The peer has closed its sending direction.
    case ended
    /// The program has closed this direction. Received bytes are discarded.
    case closed
  }

  enum Writing {
    case open
    /// A write has failed, and may have been sent in part, so the later ones fail too.
    case failed(StreamFailure)
    case closed
  }

  enum Barrier: Equatable {
    case secure
    case capture
  }

  struct Read {
    let id: OperationID
    let range: ClosedRange<Int>
    let timeout: TimeInterval
  }

  struct Write {
    let id: OperationID
    let data: Data
    let timeout: TimeInterval
    /// The number of bytes that were passed to the engine.
    var offset = 0
  }

  /// An item of the queue of reads or of writes.
  enum Item<Operation> {
    case work(Operation)
    case close
    case barrier(OperationID, Barrier)

    var operation: Operation? {
      if case .work(let operation) = self { operation } else { nil }
    }
  }

  var life = Life.unstarted
  var reading = Reading.open
  var writing = Writing.open
  var reads: [Item<Read>] = []
  var writes: [Item<Write>] = []
  /// Received bytes that no read operation has taken yet.
  var unread = Data()
  /// The number of bytes that the engine may still deliver.
  var windowBytes = 0
  /// The number of bytes that were passed to the engine.
  var fedByteCount: UInt64 = 0
  /// The number of bytes that the kernel has accepted.
  var sentByteCount: UInt64 = 0
  var demand = TransferDemand()
  /// Whether a TLS handshake is in progress.
  var isSecuring = false
  /// Whether a TLS handshake is complete.
  var isSecure = false
  var isCaptured = false
  /// The number of times that the task was started or resumed.
  var run = 0

  /// The number of bytes in memory that were received but not delivered.
  var unreadByteCount: Int { unread.count }
  /// Whether a read can't return more bytes than those already unread.
  var isReadingOver: Bool { reading != .open || isOver }
  /// Whether the task or its streams are ending or have ended.
  var isOver: Bool {
    switch life {
    case .unstarted, .connecting, .open: false
    case .ending, .ended: true
    }
  }

  // MARK: Operations

  /// Reads at least `minLength` bytes, and at most `maxLength`. `isStreams` is true for a captured stream's read.
  mutating func read(
    _ id: OperationID, minLength: Int, maxLength: Int, timeout: TimeInterval, isStreams: Bool = false
  ) -> [Action] {
    guard isCaptured == isStreams else { return [.failRead(id, .captured)] }
    switch life {
    // The end stays readable after the task has completed.
    case .ending(nil) where reading == .ended, .ended(nil) where reading == .ended:
      return [.completeRead(id, Data(), isAtEnd: true)]
    case .ending(let failure), .ended(let failure): return [.failRead(id, failure ?? .readingClosed)]
    case .unstarted, .connecting, .open: break
    }
    let lowest = max(0, minLength)
    reads.append(.work(Read(id: id, range: lowest...max(lowest, maxLength), timeout: timeout)))
    return startTimer(id, timeout) + advance()
  }

  mutating func write(_ id: OperationID, _ data: Data, timeout: TimeInterval, isStreams: Bool = false) -> [Action] {
    guard isCaptured == isStreams else { return [.completeWrite(id, .captured)] }
    switch life {
    case .ending(let failure), .ended(let failure): return [.completeWrite(id, failure ?? .writingClosed)]
    case .unstarted, .connecting, .open: break
    }
    if case .failed(let failure) = writing { return [.completeWrite(id, failure)] }
    writes.append(.work(Write(id: id, data: data, timeout: timeout)))
    return startTimer(id, timeout) + advance()
  }

  mutating func closeRead(isStreams: Bool = false) -> [Action] {
    guard !isOver, isCaptured == isStreams else { return [] }
    reads.append(.close)
    return advance()
  }

  mutating func closeWrite(isStreams: Bool = false) -> [Action] {
    guard !isOver, isCaptured == isStreams else { return [] }
    writes.append(.close)
    return advance()
  }

  mutating func secure(_ id: OperationID) -> [Action] { enqueue(.secure, id) }

  mutating func capture(_ id: OperationID) -> [Action] { enqueue(.capture, id) }

  mutating func enqueue(_ barrier: Barrier, _ id: OperationID) -> [Action] {
    guard !isOver, !isCaptured else { return [] }
    reads.append(.barrier(id, barrier))
    writes.append(.barrier(id, barrier))
    return advance()
  }

  // MARK: Events of the task

  mutating func start() -> [Action] {
    guard case .unstarted = life else { return [] }
    life = .connecting
    return [.connect] + startTimers()
  }

  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> [Action] {
    let wasSuspended = demand.isSuspended
    // Captured streams no longer belong to the task.
    guard !isCaptured, demand.setSuspended(isSuspended, change: change), isSuspended != wasSuspended else { return [] }
    run += 1
    return isSuspended ? [] : startTimers() + advance()
  }

  mutating func cancel() -> [Action] { end(.cancelled) }

  /// Fails the operations of a task that has completed without a connection.
  mutating func taskEnded(_ failure: StreamFailure) -> [Action] {
    guard !isOver else { return [] }
    life = .ended(failure)
    return failAll(failure)
  }

  /// Called when the time of an operation has passed.
  mutating func expired(_ timer: Timer) -> [Action] {
    guard timer.run == run, !demand.isSuspended, !isOver else { return [] }
    if let index = reads.firstIndex(where: { $0.operation?.id == timer.operation }), let read = reads[index].operation {
      reads.remove(at: index)
      return [.failRead(read.id, .timedOut(read.timeout))] + advance()
    }
    guard let index = writes.firstIndex(where: { $0.operation?.id == timer.operation }),
      let write = writes[index].operation
    else { return [] }
    // The later writes would be misunderstood without this one.
    let failure = StreamFailure.timedOut(write.timeout)
    writing = .failed(failure)
    let failed = writes[index...].compactMap(\.operation?.id)
    writes = writes[..<index] + writes[index...].filter { $0.operation == nil }
    return failed.map { .completeWrite($0, failure) } + advance()
  }

  // MARK: Events of the engine

  mutating func connected() -> [Action] {
    guard case .connecting = life else { return [] }
    life = .open
    return advance()
  }

  mutating func received(_ bytes: Data) -> [Action] {
    guard !isOver else { return [] }
    // These bytes came in the clear, and the program would take them for protected ones.
    if isSecuring { return end(.unreadBytes(bytes.count)) }
    guard reading != .closed else { return [] }
    windowBytes -= bytes.count
    if unread.isEmpty { unread = bytes } else { unread.append(bytes) }
    return advance()
  }

  mutating func receivedEnd() -> [Action] {
    guard !isOver, reading == .open else { return [] }
    reading = .ended
    return [.notifyReadClosed] + advance()
  }

  /// Called when the kernel has accepted the first `byteCount` bytes.
  mutating func sent(_ byteCount: UInt64) -> [Action] {
    sentByteCount = byteCount
    return advance()
  }

  mutating func secured() -> [Action] {
    guard !isOver, isSecuring else { return [] }
    (isSecuring, isSecure) = (false, true)
    removeBarrier()
    return advance()
  }

  /// Called when the connection has ended, with its error, or nil after `Action.close`.
  mutating func ended(_ failure: StreamFailure?) -> [Action] {
    let outcome: StreamFailure?
    switch life {
    case .ended: return []
    case .ending(let decided): outcome = decided
    case .unstarted, .connecting, .open: outcome = failure
    }
    life = .ended(outcome)
    return failAll(outcome ?? .readingClosed) + [.finish(outcome)]
  }
}
