// Probe: a handler whose iterations tests can observe.

import Glibc

@_spi(Loop) import LupineReactor

/// A handler for event loops in tests. It is an actor whose executor is the loop, and calls a closure in each iteration.
actor Probe: LoopHandler {
  typealias Turn = @Sendable ([Poller.Event], Instant) -> Instant?

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let onTurn: Turn
  private let onRelease: @Sendable () -> Void
  private var count = 0
  private(set) var turnCount = 0

  init(_ loop: EventLoop, onTurn: @escaping Turn = { _, _ in nil }, onRelease: @escaping @Sendable () -> Void = {}) {
    self.loop = loop
    self.onTurn = onTurn
    self.onRelease = onRelease
  }

  deinit { onRelease() }

  /// Returns false, because this handler takes no messages before an iteration.
  func gather() -> Bool { false }

  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant? {
    turnCount += 1
    return onTurn(events, now)
  }

  func add(_ number: Int) -> (sum: Int, thread: pthread_t) {
    count += number
    return (count, pthread_self())
  }

  func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    try loop.watch(number, interest, token: token)
  }

  func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    try loop.rewatch(number, interest, token: token)
  }
}
