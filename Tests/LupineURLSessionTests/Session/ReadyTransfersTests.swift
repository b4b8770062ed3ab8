// ReadyTransfersTests: when the transfers that have received something are delivered.

import Dispatch
import LupineEngine
import LupineReactor
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ReadyTransfersTests {
  private let queue = DispatchQueue(label: "ReadyTransfersTests")
  private let transfers: ReadyTransfers
  private let deliveries = Deliveries()

  init() { transfers = ReadyTransfers(on: SerialQueue(queue)) }

  private func addTransfer(_ name: String) { transfers.add(NamedTransfer(name, deliveries)) }

  /// The names of the transfers that have been delivered so far. The names of transfers that one block delivered are joined by
  /// "+".
  private var delivered: [String] {
    queue.sync {}
    return deliveries.blocks
  }

  @Test("events of several requests in one event loop iteration are delivered together at the iteration's end")
  func oneBlock() {
    transfers.iterationBegan()
    addTransfer("a")
    #expect(delivered.isEmpty)
    addTransfer("b")
    addTransfer("c")
    #expect(delivered.isEmpty)
    transfers.iterationEnded()
    #expect(delivered == ["a+b+c"])
  }

  @Test("a request's event that occurs outside of an event loop iteration is delivered immediately")
  func outside() {
    addTransfer("a")
    #expect(delivered == ["a"])
    transfers.iterationBegan()
    transfers.iterationEnded()
    addTransfer("b")
    #expect(delivered == ["a", "b"])
  }

  @Test("if the iterations of two event loops overlap, the end of either iteration delivers the events of both loops")
  func overlapping() {
    transfers.iterationBegan()
    addTransfer("a")
    transfers.iterationBegan()
    addTransfer("b")
    transfers.iterationEnded()
    #expect(delivered == ["a+b"])
    addTransfer("c")
    #expect(delivered == ["a+b"])
    transfers.iterationEnded()
    #expect(delivered == ["a+b", "c"])
  }

  @Test(
    "a Task that is resumed by the delivery of one request's events runs even while the next request's delivery blocks")
  func slowTransfer() async {
    let (isWaiting, isResumed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let waiting = Mutex<SuspendedTask?>(nil)
    let task = Task {
      await SuspendedTask.suspend { continuation in
        waiting.withLock { $0 = continuation }
        isWaiting.signal()
      }
      isResumed.signal()
    }
    let queue = transfers.queue
    transfers.iterationBegan()
    transfers.add(
      ClosureTransfer {
        isWaiting.wait()
        if let continuation = waiting.withLock({ $0.take() }) { queue.resumptions.resume(continuation) }
        // Blocks for longer than a delivery that would resume all its tasks at the end.
        let end = Instant.now + .milliseconds(1)
        while Instant.now < end {}
      })
    let inTime = Mutex(false)
    transfers.add(
      ClosureTransfer {
        let outcome = isResumed.wait(timeout: .now() + 60)
        inTime.withLock { $0 = outcome == .success }
      })
    transfers.iterationEnded()
    await task.value
    self.queue.sync {}
    #expect(inTime.withLock { $0 })
  }

  @Test("after the delegate queue was busy, the events of all requests that occurred meanwhile are delivered together")
  func busyQueue() {
    queue.suspend()
    for name in ["a", "b", "c"] {
      transfers.iterationBegan()
      addTransfer(name)
      transfers.iterationEnded()
    }
    addTransfer("d")
    queue.resume()
    #expect(delivered == ["a+b+c+d"])
  }

  @Test("an event loop iteration in which no request has an event delivers nothing")
  func nothing() {
    transfers.iterationBegan()
    transfers.iterationEnded()
    #expect(delivered.isEmpty)
    #expect(deliveries.isBlockEmpty)
  }
}

/// Records the names of delivered transfers, and which transfers the same block has delivered.
private final class Deliveries: Sendable {
  private let state = Mutex((names: [String](), blocks: [String]()))

  /// For each block, the names of the transfers that it has delivered, joined by "+". Tests read this while no block is running.
  var blocks: [String] {
    state.withLock { state in
      if !state.names.isEmpty { state.blocks.append(state.names.joined(separator: "+")) }
      state.names = []
      return state.blocks
    }
  }

  var isBlockEmpty: Bool { state.withLock { $0.names.isEmpty } }

  func add(_ name: String) { state.withLock { $0.names.append(name) } }
}

private final class NamedTransfer: ReadyTransfer {
  private let name: String
  private let deliveries: Deliveries

  init(_ name: String, _ deliveries: Deliveries) {
    self.name = name
    self.deliveries = deliveries
  }

  func deliver() { deliveries.add(name) }
}

/// A mock transfer that calls a closure when its events are delivered.
private final class ClosureTransfer: ReadyTransfer {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func deliver() { body() }
}
