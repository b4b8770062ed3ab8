// EventLoopTests: a loop on its thread: iterations, wake-ups, jobs and the end of the loop.

import Dispatch
import Glibc
import Synchronization
import Testing

@testable @_spi(Loop) import LupineReactor

private final class JobCount: Sendable {
  let running = Atomic<Int>(0)
}

@Suite("EventLoop", .timeLimit(.minutes(10)))
struct EventLoopTests {
  @Test("if a descriptor is ready, the event loop reports an event with the descriptor's token")
  func events() async throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    let (tokens, continuation) = AsyncStream.makeStream(of: String.self)
    let probe = Probe(loop) { events, _ in
      for event in events {
        // The handler drains the socket before it notifies the test, because the test then writes again.
        pair.drain()
        continuation.yield("\(event.token)\(event.isReadable ? "r" : "")\(event.isWritable ? "w" : "")")
      }
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    try await probe.watch(pair.first, .readable, token: 41)
    var iterator = tokens.makeAsyncIterator()
    for _ in 0..<100 {
      pair.write()
      let token = await iterator.next()
      #expect(token == "41r")
    }
    loop.stop()
  }

  @Test("the events that a descriptor is watched for can be changed while the event loop is running")
  func rewatch() async throws {
    let loop = try EventLoop()
    let pair = try SocketPair()
    let (tokens, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let probe = Probe(loop) { events, _ in
      for event in events where event.isWritable {
        continuation.yield(event.token)
        // Events are level-triggered: with the old interest, the loop would iterate forever.
        #expect(throws: Never.self) { try loop.rewatch(pair.first, .readable, token: 1) }
      }
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    try await probe.watch(pair.first, .readable, token: 1)
    try await probe.rewatch(pair.first, [.readable, .writable], token: 2)
    var iterator = tokens.makeAsyncIterator()
    let token = await iterator.next()
    #expect(token == 2)
    loop.stop()
  }

  @Test("a message from another thread wakes the event loop, even if the loop is just going to sleep")
  func wakes() async throws {
    let loop = try EventLoop()
    let mailbox = Mailbox<Int>()
    let (echoes, continuation) = AsyncStream.makeStream(of: Int.self)
    let probe = Probe(loop) { _, _ in
      var messages: [Int] = []
      mailbox.drain(into: &messages)
      for message in messages { continuation.yield(message) }
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    var iterator = echoes.makeAsyncIterator()
    // One message is sent at a time, so that the loop sleeps in between. A lost wake-up would hang the test here.
    for number in 0..<2_000 {
      if mailbox.post(number) { loop.wake() }
      let echo = await iterator.next()
      #expect(echo == number)
    }
    // Many messages are sent at the same time.
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for number in 0..<2_000 where mailbox.post(number) { loop.wake() }
        }
      }
    }
    var sum = 0
    for _ in 0..<8_000 { sum += await iterator.next() ?? 0 }
    #expect(sum == 4 * (0..<2_000).reduce(0, +))
    loop.stop()
  }

  @Test("any number of wake-ups during an iteration of the event loop cause only one further iteration")
  func coalesces() async throws {
    let loop = try EventLoop()
    let isBlocking = Atomic<Bool>(true)
    let gate = DispatchSemaphore(value: 0)
    let (turns, continuation) = AsyncStream.makeStream(of: Void.self)
    let probe = Probe(loop) { _, _ in
      continuation.yield()
      if isBlocking.exchange(false, ordering: .relaxed) { gate.wait() }
      return nil
    }
    loop.wake()
    try loop.start(name: "lupine-test", handler: probe)
    var iterator = turns.makeAsyncIterator()
    await iterator.next()
    for _ in 0..<1_000 { loop.wake() }
    gate.signal()
    await iterator.next()
    // This call runs as a job on the loop, before the iteration that the job causes.
    let count = await probe.turnCount
    #expect(count == 2)
    loop.stop()
  }

  @Test("the event loop runs an iteration when its deadline has passed, even if there are no events")
  func deadline() async throws {
    let loop = try EventLoop()
    let deadline = Mutex<Instant?>(nil)
    let (turns, continuation) = AsyncStream.makeStream(of: Bool.self)
    let probe = Probe(loop) { _, now in
      deadline.withLock { deadline in
        if let deadline, now >= deadline {
          continuation.yield(true)
          return nil
        }
        let next = deadline ?? now + .milliseconds(3)
        deadline = next
        return next
      }
    }
    loop.wake()
    try loop.start(name: "lupine-test", handler: probe)
    var iterator = turns.makeAsyncIterator()
    let isLate = await iterator.next()
    #expect(isLate == true)
    loop.stop()
  }

  @Test("the jobs of an actor on an event loop run one at a time, on the loop's thread")
  func actorJobs() async throws {
    let loop = try EventLoop()
    let (turns, turned) = AsyncStream.makeStream(of: pthread_t.self)
    let probe = Probe(loop) { _, _ in
      turned.yield(pthread_self())
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    let results = await withTaskGroup(of: (sum: Int, thread: pthread_t).self) { group in
      for _ in 0..<200 { group.addTask { await probe.add(1) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(results.map(\.sum)) == Set(1...200))
    let threads = Set(results.map(\.thread))
    #expect(threads.count == 1)
    // All jobs may have run before the loop's first iteration.
    loop.wake()
    var iterator = turns.makeAsyncIterator()
    #expect(await iterator.next() == threads.first)
    loop.stop()
  }

  @Test("an event loop's isCurrent is true only in code that runs on the loop's thread")
  func current() async throws {
    let loops = [try EventLoop(), try EventLoop()]
    for loop in loops { try loop.start(name: "lupine-test", handler: Probe(loop)) }
    for (index, loop) in loops.enumerated() {
      let isCurrent = await Task(executorPreference: LoopTaskExecutor(loop)) { loops.map(\.isCurrent) }.value
      #expect(isCurrent == [index == 0, index == 1])
    }
    #expect(loops.map(\.isCurrent) == [false, false])
    for loop in loops { loop.stop() }
  }

  @Test(
    "stopping an event loop ends its thread, which then releases the loop and its handler", arguments: [false, true])
  func stop(fromTheLoop: Bool) async throws {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      do {
        let loop = try EventLoop()
        let turn: Probe.Turn = { _, _ in
          if fromTheLoop { loop.stop() }
          return nil
        }
        let probe = Probe(loop, onTurn: turn, onRelease: { continuation.resume() })
        try loop.start(name: "lupine-test", handler: probe)
        if fromTheLoop { loop.wake() } else { loop.stop() }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
    }
  }

  @Test("a job that is enqueued before the event loop stops still runs")
  func stopRunsJobs() async throws {
    let loop = try EventLoop()
    let gate = DispatchSemaphore(value: 0)
    let (entered, continuation) = AsyncStream.makeStream(of: Void.self)
    let probe = Probe(loop) { _, _ in
      continuation.yield()
      gate.wait()
      return nil
    }
    loop.wake()
    try loop.start(name: "lupine-test", handler: probe)
    var iterator = entered.makeAsyncIterator()
    await iterator.next()
    // The task is enqueued during the loop's last iteration, and needs several jobs to complete.
    let task = Task(executorPreference: LoopTaskExecutor(loop)) {
      for _ in 0..<5 { await Task.yield() }
      return await probe.add(7).sum
    }
    loop.stop()
    gate.signal()
    let sum = await task.value
    #expect(sum == 7)
  }

  @Test("a task that resumes after the event loop's end is completed, on one thread at a time")
  func lateJobs() async throws {
    let loop = try EventLoop()
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    // This is a separate function so that only the loop's thread retains the handler, and releases it when the thread ends.
    func start() throws {
      try loop.start(name: "lupine-test", handler: Probe(loop, onRelease: { continuation.yield() }))
    }
    try start()
    let (gates, gate) = AsyncStream.makeStream(of: Void.self)
    let (waiting, isWaiting) = AsyncStream.makeStream(of: Void.self)
    let task = Task(executorPreference: LoopTaskExecutor(loop)) {
      isWaiting.yield()
      for await _ in gates {}
      return loop.isCurrent
    }
    var iterator = waiting.makeAsyncIterator()
    await iterator.next()
    loop.stop()
    var end = ended.makeAsyncIterator()
    await end.next()
    gate.finish()
    #expect(await task.value)
    let count = JobCount()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask(executorPreference: LoopTaskExecutor(loop)) {
          #expect(count.running.add(1, ordering: .relaxed).newValue == 1)
          #expect(loop.isCurrent)
          count.running.subtract(1, ordering: .relaxed)
        }
      }
    }
    #expect(!loop.isCurrent)
  }

  @Test("Swift's isolation checks regard only code on an event loop's thread as isolated to the loop")
  func isolation() async throws {
    let loops = [try EventLoop(), try EventLoop()]
    for loop in loops { try loop.start(name: "lupine-test", handler: Probe(loop)) }
    let answers = await Task(executorPreference: LoopTaskExecutor(loops[0])) {
      loops[0].checkIsolated()
      return loops.map { $0.isIsolatingCurrentContext() }
    }.value
    #expect(answers == [true, false])
    #expect(loops[0].isIsolatingCurrentContext() == false)
    for loop in loops { loop.stop() }
  }
}
