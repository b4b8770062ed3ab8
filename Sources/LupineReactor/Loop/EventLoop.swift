// EventLoop: a thread with an epoll instance that runs a handler, and the actors and tasks bound to the loop.

internal import CLupineLinux
internal import LupineLibc
internal import Synchronization

/// The actor whose methods an event loop calls in each of its iterations. The actor's executor must be that loop.
package protocol LoopHandler: Actor {
  /// Called in each iteration before the loop polls its sockets. Takes the messages that other threads have posted so far, for
  /// processing in this iteration, and returns whether there are any.
  ///
  /// The loop fetches the events of sockets only afterward. So before the handler processes a message, it receives all data that
  /// peers had sent when the message was posted.
  func gather() -> Bool

  /// Called once in each iteration of the loop: when sockets are ready, after a
  /// message was posted, or when a deadline has passed.
  ///
  /// All events that occurred up to `fetched` are in `events` or were passed in an earlier iteration. Any amount of
  /// time may pass between `fetched` and `now`, because the system may suspend the process. Returns the latest time
  /// for the next call, or nil if there is no deadline.
  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant?

  /// Whether the loop may poll its sockets for a while before it sleeps. True by default.
  var mayBusyPoll: Bool { get }
}

extension LoopHandler {
  package var mayBusyPoll: Bool { true }
}

/// An event loop with a dedicated thread.
///
/// The loop retains itself and its handler until `stop`. Jobs enqueued afterward still run, on a thread started for
/// them. `wake` and `enqueue` may be called from any thread, the other methods only from the loop's thread.
package final class EventLoop: Network, SerialExecutor, @unchecked Sendable {
  /// The states of the loop's thread. `wake` makes a system call only if the thread is asleep.
  private enum Activity {
    static let awake = 0
    static let signalled = 1
    static let asleep = 2
    /// The loop's thread has ended. A job enqueued later needs another thread.
    static let ended = 3
  }

  /// A job of Swift concurrency, either of an actor or of a task with a task executor.
  private struct Job {
    let job: UnownedJob
    let taskExecutor: UnownedTaskExecutor?
  }

  // After the loop has started, only its thread accesses `poller`.
  private var poller: Poller
  private var busyPoll: BusyPoll
  /// Whether `wake` was called between the end of the previous poll and the end of the latest one.
  private var wasWoken = false
  let eventDescriptor: FileDescriptor
  private let activity = Atomic<Int>(Activity.awake)
  private let isStopped = Atomic<Bool>(false)
  private let threadID = Atomic<UInt>(0)
  private let jobs = Mailbox<Job>()

  private static let wakeToken = UInt64.max

  /// Creates a loop without starting it. `busyPoll` is the maximum time for which the loop polls its sockets before it sleeps.
  package init(busyPoll: Duration = .zero) throws(SystemError) {
    let poller = try Poller()
    let number = try SystemCall.run("eventfd") { eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)) }
    eventDescriptor = FileDescriptor(owning: number)
    // Each write is reported once, so that the loop needn't read the counter.
    try poller.add(number, .edgeTriggered, token: Self.wakeToken)
    self.poller = poller
    self.busyPoll = BusyPoll(limit: busyPoll)
  }

  /// Starts the loop's thread. Call it once.
  package func start(name: String, handler: some LoopHandler) throws(SystemError) {
    try Thread.start(name: name) { self.run(handler) }
  }

  /// Ends the loop after the current iteration.
  package func stop() {
    isStopped.store(true, ordering: .releasing)
    wake()
  }

  /// Makes the loop run another iteration. The call is cheap unless the loop sleeps.
  package func wake() {
    let before = activity.exchange(Activity.signalled, ordering: .acquiringAndReleasing)
    switch before {
    case Activity.asleep:
      // The loop doesn't read the counter, which only 2^64 wake-ups would make overflow.
      _ = eventfd_write(eventDescriptor.number, 1)
    case Activity.ended: runJobsOnNewThread()
    default: break
    }
  }

  /// Whether the caller runs on the loop's thread.
  package var isCurrent: Bool { threadID.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// The current time.
  package var now: Instant { .now }

  /// Starts to connect a socket to `address` without blocking, and returns the socket.
  package func connect(
    to address: SocketAddress, options: SocketOptions
  ) throws(SystemError) -> any StreamSocket {
    try Socket.connect(to: address, options: options)
  }

  /// Returns the link (network interface) through which the kernel would send packets of a socket with these options to `address`.
  package func link(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> NetworkLink? {
    try NetworkLink.link(to: address, options: options)
  }

  /// Starts to watch a descriptor for the events in `interest`. The events that the loop passes to its handler carry `token`.
  package func watch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    precondition(token != Self.wakeToken, "the token is reserved for the event loop")
    try poller.add(number, interest, token: token)
  }

  /// Changes the events for which the loop watches a descriptor, and their token.
  package func rewatch(_ number: CInt, _ interest: Poller.Interest, token: UInt64) throws(SystemError) {
    try poller.modify(number, interest, token: token)
  }

  /// Stops watching a descriptor for events, including errors.
  package func unwatch(_ number: CInt) throws(SystemError) {
    try poller.remove(number)
  }

  private func run(_ handler: some LoopHandler) {
    threadID.store(UInt(pthread_self()), ordering: .relaxed)
    // Enters the handler's isolation once for all iterations. A check by the runtime in each iteration would be a noticeable
    // part of a request's cost.
    handler.assumeIsolated { runIterations($0) }
    runRemainingJobs()
  }

  private func runIterations(_ handler: isolated some LoopHandler) {
    var events: [Poller.Event] = []
    var ready: [Job] = []
    var deadline: Instant?
    while !isStopped.load(ordering: .acquiring) {
      // Runs the jobs resumed in the previous iteration, so that their requests to the handler are part of this one.
      runJobs(&ready)
      let isBusy = handler.gather()
      let mayPoll = busyPoll.isEnabled && handler.mayBusyPoll
      let fetched =
        mayPoll && !isBusy
        ? pollBeforeSleeping(until: deadline, into: &events) : poll(until: deadline, mayBlock: !isBusy, into: &events)
      // Runs the jobs that woke the loop.
      runJobs(&ready)
      deadline = handler.turn(events, fetched: fetched, now: .now)
      if !events.isEmpty { events.removeAll(keepingCapacity: true) }
    }
  }

  /// Runs the remaining jobs, and the jobs that they enqueue, after the loop was stopped. Otherwise, tasks that wait for these jobs
  /// would hang.
  private func runRemainingJobs() {
    var ready: [Job] = []
    repeat {
      // Exchanged, not stored: a job that was posted while `signalled` is being replaced must be visible to `runJobs`.
      _ = activity.exchange(Activity.awake, ordering: .acquiringAndReleasing)
      threadID.store(UInt(pthread_self()), ordering: .relaxed)
      repeat { runJobs(&ready) } while !ready.isEmpty
      // The identifier is cleared, because the system may reuse it for another thread.
      threadID.store(0, ordering: .relaxed)
    } while !activity.compareExchange(
      expected: Activity.awake, desired: Activity.ended, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Runs the jobs enqueued after the loop has ended. At most one thread runs jobs at a time.
  private func runJobsOnNewThread() {
    do {
      try Thread.start(name: "lupine-late") { self.runRemainingJobs() }
    } catch {
      // If no thread can be started, the current thread runs the jobs.
      runRemainingJobs()
    }
  }

  private func runJobs(_ ready: inout [Job]) {
    jobs.drain(into: &ready)
    for entry in ready {
      if let taskExecutor = entry.taskExecutor {
        entry.job.runSynchronously(on: taskExecutor)
      } else {
        entry.job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
  }

  /// Fetches the events of the watched descriptors. Polls for a while, if `busyPoll` decides so, before it blocks. Returns the time
  /// up to which all events have been fetched.
  private func pollBeforeSleeping(until deadline: Instant?, into events: inout [Poller.Event]) -> Instant {
    let start = Instant.now
    var fetched = start
    wasWoken = false
    let end = busyPoll.end(from: start).map { min($0, deadline ?? $0) }
    if let end {
      repeat {
        // While the loop polls without blocking, `wake` makes no system call.
        fetched = poll(until: nil, mayBlock: false, into: &events)
      } while events.isEmpty && !wasWoken && fetched < end
    }
    if events.isEmpty, !wasWoken { fetched = poll(until: deadline, mayBlock: true, into: &events) }
    busyPoll.waited(.now - start, hasPolled: end != nil)
    return fetched
  }

  /// Fetches the events of the watched descriptors. If `mayBlock` is true, blocks until an event, a call of `wake` or the deadline.
  /// Returns the time up to which all events have been fetched.
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
    wasWoken = activity.exchange(Activity.awake, ordering: .acquiringAndReleasing) == Activity.signalled
    if let index = events.firstIndex(where: { $0.token == Self.wakeToken }) { events.remove(at: index) }
    return now
  }

  // MARK: Executor

  /// Enqueues a job of an actor bound to this loop.
  package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), of: nil) }

  // On the loop's thread, this makes no system call. The job runs in the next iteration, which also polls the sockets, so jobs
  // that keep enqueuing each other don't starve the sockets.
  func enqueue(_ job: UnownedJob, of taskExecutor: UnownedTaskExecutor?) {
    if jobs.post(Job(job: job, taskExecutor: taskExecutor)) { wake() }
  }

  /// Called by the runtime in `assumeIsolated`. Accepts callers on the loop's thread, and traps on any other thread.
  package func checkIsolated() {
    precondition(isCurrent, "not on the event loop's thread")
  }

  /// Returns whether the caller runs on the loop's thread, so that the runtime needn't switch threads.
  package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
