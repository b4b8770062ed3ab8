// One thread with one epoll: it runs its handler, and the actors and tasks that are bound to it.

internal import CLupineLinux
internal import Glibc
internal import Synchronization

/// The actor that a loop drives. Its executor has to be that loop.
package protocol LoopHandler: Actor {
  /// Called before the poller is asked: takes what was posted by now, to be done in the turn; returns whether there is
  /// anything.
  ///
  /// So what is done in a turn was asked for before the turn's events were fetched, and can't miss what a peer had sent
  /// by then.
  func gather() -> Bool

  /// Called once for each turn of the loop: with what is ready, after something was posted, or when time has passed.
  ///
  /// What a peer has done by `fetched` is in the events of this turn or an earlier one. The system may stop the program
  /// between that and `now`, for any time. Returns when it wants to be called at the latest, or nil.
  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant?
}

/// An event loop on a thread of its own.
///
/// The loop keeps itself and its handler alive until `stop`. Jobs that are enqueued behind that still run, on a thread
/// that is started for them. `wake` and `enqueue` may be called from any thread; the
/// other calls belong to the loop's thread.
package final class EventLoop: Network, SerialExecutor, @unchecked Sendable {
  /// What the loop is doing, so that a sender pays for a system call only if the loop sleeps.
  private enum Activity {
    static let awake = 0
    static let signalled = 1
    static let asleep = 2
    /// The thread has ended; a job that comes now needs another.
    static let ended = 3
  }

  /// A job of an actor, or of a task if it has an executor for it.
  private struct Job {
    let job: UnownedJob
    let taskExecutor: UnownedTaskExecutor?
  }

  // Guarded by: the loop's thread. `poller` is touched by that thread alone once the loop has started.
  private var poller: Poller
  let eventDescriptor: FileDescriptor
  private let activity = Atomic<Int>(Activity.awake)
  private let isStopped = Atomic<Bool>(false)
  private let threadID = Atomic<UInt>(0)
  private let jobs = Mailbox<Job>()

  private static let wakeToken = UInt64.max

  /// Creates a loop that doesn't run yet.
  package init() throws(SystemError) {
    let poller = try Poller()
    let number = try SystemCall.run("eventfd") { eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)) }
    eventDescriptor = FileDescriptor(owning: number)
    try poller.add(number, .readable, token: Self.wakeToken)
    self.poller = poller
  }

  /// Starts the thread. Call it once.
  package func start(name: String, handler: some LoopHandler) throws(SystemError) {
    try Thread.start(name: name) { self.run(handler) }
  }

  /// Ends the loop after its present turn.
  package func stop() {
    isStopped.store(true, ordering: .releasing)
    wake()
  }

  /// Makes the loop take another turn; cheap if it is awake anyway.
  package func wake() {
    let before = activity.exchange(Activity.signalled, ordering: .acquiringAndReleasing)
    switch before {
    case Activity.asleep:
      var one: UInt64 = 1
      // The counter can't overflow, since each write needs a sleep before it.
      _ = write(eventDescriptor.number, &one, 8)
    case Activity.ended: finishLate()
    default: break
    }
  }

  /// Whether the caller runs on the loop's thread.
  package var isCurrent: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// The time.
  package var now: Instant { .now }

  /// Starts to connect, without waiting.
  package func connect(
    to address: SocketAddress, options: SocketOptions
  ) throws(SystemError) -> any StreamSocket {
    try Socket.connect(to: address, options: options)
  }

  /// Starts to watch a descriptor.
  package func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    precondition(token != Self.wakeToken, "the loop's own token")
    try poller.add(number, interest, token: token)
  }

  /// Changes what is waited for on a watched descriptor.
  package func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    try poller.modify(number, interest, token: token)
  }

  /// Stops watching a descriptor, whose errors aren't reported then either.
  package func unwatch(_ number: CInt) throws(SystemError) {
    try poller.remove(number)
  }

  private func run(_ handler: some LoopHandler) {
    threadID.store(UInt(pthread_self()), ordering: .relaxed)
    // Once for all turns: the runtime's check costs as much as a part of a request.
    handler.assumeIsolated { takeTurns($0) }
    finish()
  }

  private func takeTurns(_ handler: isolated some LoopHandler) {
    var events: [Poller.Event] = []
    var ready: [Job] = []
    var deadline: Instant?
    while !isStopped.load(ordering: .acquiring) {
      // What the latest turn has resumed, so that what it asks of the handler is part of this turn.
      runJobs(&ready)
      let isBusy = handler.gather()
      let fetched = poll(until: deadline, mayBlock: !isBusy, into: &events)
      // What has woken the loop.
      runJobs(&ready)
      deadline = handler.turn(events, fetched: fetched, now: .now)
      if !events.isEmpty { events.removeAll(keepingCapacity: true) }
    }
  }

  /// Runs the jobs that are left, and what they enqueue in turn, since a task that waits for them would hang.
  private func finish() {
    var ready: [Job] = []
    repeat {
      activity.store(Activity.awake, ordering: .releasing)
      threadID.store(UInt(pthread_self()), ordering: .relaxed)
      repeat { runJobs(&ready) } while !ready.isEmpty
      // The system may give the identifier to another thread, which isn't the loop's.
      threadID.store(0, ordering: .relaxed)
    } while !activity.compareExchange(
      expected: Activity.awake, desired: Activity.ended, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// A job has come though the loop has ended; still no two run at a time.
  private func finishLate() {
    do {
      try Thread.start(name: "lupine-late") { self.finish() }
    } catch {
      // Without a thread to be had, here is better than never.
      finish()
    }
  }

  private func runJobs(_ ready: inout [Job]) {
    jobs.take(into: &ready)
    for entry in ready {
      if let taskExecutor = entry.taskExecutor {
        entry.job.runSynchronously(on: taskExecutor)
      } else {
        entry.job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
  }

  /// Fetches what is ready, and waits for it if it may; returns since when.
  private func poll(until deadline: Instant?, mayBlock: Bool, into events: inout [Poller.Event]) -> Instant {
    let now = Instant.now
    let sleeps =
      mayBlock
      && activity.compareExchange(
        expected: Activity.awake, desired: Activity.asleep, ordering: .acquiringAndReleasing
      ).exchanged
    do {
      try poller.wait(until: sleeps ? deadline : now, now: now, into: &events)
    } catch {
      preconditionFailure("\(error)")  // epoll_wait fails only for a bad descriptor or buffer: our own bug
    }
    _ = activity.exchange(Activity.awake, ordering: .acquiringAndReleasing)
    if let index = events.firstIndex(where: { $0.token == Self.wakeToken }) {
      events.remove(at: index)
      var count: UInt64 = 0
      _ = read(eventDescriptor.number, &count, 8)
    }
    return now
  }

  // MARK: Executor

  /// Takes a job of an actor bound to this loop.
  package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), of: nil) }

  // From the loop's own thread it costs no system call. The job runs in the next turn, for which the sockets are
  // looked at anew, so that jobs which enqueue one another for ever don't keep them waiting.
  func enqueue(_ job: UnownedJob, of taskExecutor: UnownedTaskExecutor?) {
    if jobs.post(Job(job: job, taskExecutor: taskExecutor)) { wake() }
  }

  /// Lets `assumeIsolated` trust the loop's thread.
  package func checkIsolated() {
    precondition(isCurrent, "not on the event loop's thread")
  }

  /// Lets the runtime skip a hop for code that is on the loop's thread already.
  package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
