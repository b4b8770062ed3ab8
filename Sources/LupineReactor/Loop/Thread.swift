// Thread: starts and suspends threads. `start` is nonisolated, so its closure never inherits the isolation of the calling code.

internal import CLupineLinux
internal import LupineLibc

/// Starts and suspends threads of the operating system.
package enum Thread {
  /// The maximum length of a thread's name in bytes: 15. Linux refuses longer names (pthread_setname_np(3)).
  private static let nameBytesMax = 15

  /// Starts a detached thread that runs `body`. Truncates the name to 15 bytes at a character boundary.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var name = name
    while name.utf8.count > nameBytesMax { name.removeLast() }
    let box = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    // SAFETY: the thread takes over the retained box; it is released here if no thread was started.
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = lupine_set_thread_name(start.name)
        start.body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
  }

  /// Suspends the calling thread until a time. Returns at once if the time has passed.
  package static func sleep(until time: Instant) {
    var deadline = timespec()
    deadline.tv_sec = Int(time.nanoseconds / 1_000_000_000)
    deadline.tv_nsec = Int(time.nanoseconds % 1_000_000_000)
    // A signal ends the call early. SAFETY: the structure is valid during the call, which keeps no pointer.
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) == EINTR {}
  }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
