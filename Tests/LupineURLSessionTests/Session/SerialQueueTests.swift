// `SerialQueue`: runs work on a session's delegate queue, whatever kind of operation queue that is.

import Foundation
import LupineOrigin
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SerialQueueTests {
  @Test(
    "a SerialQueue performs its work items in order and one at a time, including items that other items add",
    arguments: URLSessionTests.Queue.allCases)
  func order(queue: URLSessionTests.Queue) async {
    let delivery = SerialQueue(queue.operations ?? OperationQueue(serial: DispatchQueue(label: "own")))
    let isTaken = Atomic(false)
    let overlaps = Atomic(0)
    let done = Mutex<[Int]>([])
    let isOver = Gate()
    let work: @Sendable (Int) -> Void = { index in
      if isTaken.exchange(true, ordering: .acquiringAndReleasing) { overlaps.add(1, ordering: .relaxed) }
      sched_yield()
      done.withLock { $0.append(index) }
      isTaken.store(false, ordering: .releasing)
    }
    for index in 0..<2000 {
      delivery.perform {
        work(index)
        if index == 1999 {
          delivery.perform {
            work(2000)
            isOver.open()
          }
        }
      }
    }
    await isOver.wait()
    #expect(done.withLock { $0 } == Array(0...2000))
    let overlapCount = overlaps.load(ordering: .relaxed)
    #expect(overlapCount == 0)
  }

  @Test("blocks are performed even if the owner of the operation queue cancels its operations")
  func canceledOperations() async {
    let operations = OperationQueue()
    operations.isSuspended = true
    let delivery = SerialQueue(operations)
    let (isFirstDone, isSecondDone) = (Gate(), Gate())
    delivery.perform { isFirstDone.open() }
    operations.cancelAllOperations()
    operations.isSuspended = false
    await isFirstDone.wait()
    delivery.perform { isSecondDone.open() }
    await isSecondDone.wait()
  }

  @Test(
    "SerialQueue.perform(.immediate) runs work synchronously on the queue itself, and asynchronously from other threads"
  )
  func here() async {
    let queue = DispatchQueue(label: "user's")
    let mark = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: mark, value: true)
    let delivery = SerialQueue(OperationQueue(serial: queue))
    let steps = Notes()
    await withCheckedContinuation { continuation in
      queue.async {
        delivery.perform(.immediate) { steps.add("at once") }
        steps.add("behind it")
        continuation.resume()
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        delivery.perform(.immediate) {
          steps.add("later \(DispatchQueue.getSpecific(key: mark) == true)")
          continuation.resume()
        }
      }
    }
    #expect(steps.all == ["at once", "behind it", "later true"])
  }
}
