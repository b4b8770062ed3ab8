// LoopTaskExecutorTests: tasks on a loop's thread: where they run, when they yield to others, and their wake-ups.

import Dispatch
import Glibc
import Synchronization
import Testing

@testable @_spi(Loop) import LupineReactor

/// Records the order in which tasks take steps, as the tasks' numbers.
private final class StepLog: Sendable {
  private let numbers = Mutex<[Int]>([])

  var all: [Int] { numbers.withLock { $0 } }

  /// Records a step of the task with this number. The function is nonisolated, so that calling it may change the executor.
  @inline(never)
  func step(_ number: Int) async { numbers.withLock { $0.append(number) } }
}

@Suite("LoopTaskExecutor", .timeLimit(.minutes(10)))
struct LoopTaskExecutorTests {
  @Test("a task that prefers an event loop as its executor runs on the loop's thread, even after suspensions")
  func taskExecutor() async throws {
    let loop = try EventLoop()
    let probe = Probe(loop)
    try loop.start(name: "lupine-test", handler: probe)
    let expected = await probe.add(0).thread
    let task = Task(executorPreference: LoopTaskExecutor(loop)) { () -> [Bool] in
      var isThere = [isOnLoop(loop, expected)]
      for _ in 0..<10 {
        await Task.yield()
        isThere.append(isOnLoop(loop, expected))
        _ = await probe.add(1)
        isThere.append(isOnLoop(loop, expected))
      }
      return isThere
    }
    let isThere = await task.value
    #expect(isThere.count == 21 && isThere.allSatisfy(\.self))
    #expect(!loop.isCurrent)
    loop.stop()
  }

  @Test("a task on an event loop runs until it suspends, and only then do the loop's other tasks run")
  func callsStay() async throws {
    let loop = try EventLoop()
    try loop.start(name: "lupine-test", handler: Probe(loop))
    let tasks = LoopTaskExecutor(loop)
    let log = StepLog()
    // Both tasks are enqueued before either of them starts.
    let both = await Task(executorPreference: tasks) {
      (0..<2).map { number in
        Task(executorPreference: tasks) {
          for _ in 0..<5 { await log.step(number) }
        }
      }
    }.value
    for task in both { await task.value }
    #expect(log.all == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    loop.stop()
  }

  @Test("a task that enqueues itself endlessly on an event loop doesn't block socket events")
  func fairness() async throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    let (tokens, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let probe = Probe(loop) { events, _ in
      for event in events {
        pair.drain()
        continuation.yield(event.token)
      }
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    try await probe.watch(pair.first, .readable, token: 5)
    let (yields, yielded) = AsyncStream.makeStream(of: Void.self)
    let task = Task(executorPreference: LoopTaskExecutor(loop)) {
      while !Task.isCancelled {
        await Task.yield()
        yielded.yield()
      }
    }
    var spin = yields.makeAsyncIterator()
    await spin.next()
    var iterator = tokens.makeAsyncIterator()
    for _ in 0..<10 {
      pair.write()
      #expect(await iterator.next() == 5)
    }
    task.cancel()
    await task.value
    loop.stop()
  }

  @Test("enqueueing a job on the event loop's own thread requires no wake-up")
  func noWakeUp() async throws {
    let loop = try EventLoop()
    try loop.start(name: "lupine-test", handler: Probe(loop))
    let isEnqueued = DispatchSemaphore(value: 0)
    let task = Task(executorPreference: LoopTaskExecutor(loop)) { () -> (Int?, Int?, Task<Bool, Never>) in
      // A loop that is awake runs this task possibly before the wake-up for the task.
      wait(for: isEnqueued)
      let before = wakeUpCount(of: loop)
      let inner = Task(executorPreference: LoopTaskExecutor(loop)) { loop.isCurrent }
      return (before, wakeUpCount(of: loop), inner)
    }
    isEnqueued.signal()
    let (before, after, inner) = await task.value
    #expect(before != nil && after == before)
    #expect(await inner.value)
    loop.stop()
  }
}

/// Blocks the thread. A separate function, because asynchronous code can't call `DispatchSemaphore.wait`.
private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

/// Returns how often the loop's eventfd was written, or nil if it can't be read.
private func wakeUpCount(of loop: EventLoop) -> Int? {
  let file = open("/proc/self/fdinfo/\(loop.eventDescriptor.number)", O_RDONLY)
  var text = [UInt8](repeating: 0, count: 1_024)
  let count = read(file, &text, text.count)
  close(file)
  let line = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n")
    .first { $0.hasPrefix("eventfd-count:") }
  return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0, radix: 16) }
}

private func isOnLoop(_ loop: EventLoop, _ thread: pthread_t) -> Bool { loop.isCurrent && pthread_self() == thread }
