// Interruption: ends a load test at the first SIGINT, so that its report is printed.

#if Bench
  import CLupineLinux
  import LupineEngine
  import LupineLibc
  import Synchronization

  /// The signal SIGINT, which a terminal sends for Ctrl-C.
  enum Interruption {
    /// The eventfd(2) through which the signal's handler wakes a thread: the handler itself may call only few functions.
    private static let descriptor = Atomic<CInt>(-1)

    /// Runs `work`, and cancels it at the first SIGINT. The second one ends the process. Returns the value of `work`, and whether it
    /// was cancelled.
    static func cancelling<Value: Sendable>(
      _ work: @escaping @Sendable () async throws(CommandError) -> Value
    ) async throws(CommandError) -> (value: Value, isInterrupted: Bool) {
      // Before the work begins, so that no signal is missed.
      let events = handleSignal()
      let task = Task { () async -> Result<Value, CommandError> in
        do throws(CommandError) {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      if let events {
        // Without a thread, the test can't start either.
        try? Thread.start(name: "lupine-signals") {
          var count: eventfd_t = 0
          while eventfd_read(events, &count) != 0, errno == EINTR {}
          task.cancel()
        }
      }
      let result = await task.value
      if events != nil { signal(SIGINT, SIG_DFL) }
      return (try result.get(), task.isCancelled)
    }

    /// Replaces the default action of the first SIGINT. Returns the eventfd that becomes readable then. Returns nil if the system has
    /// none left, or if the signal is ignored, as in a program that a shell's script has started in the background.
    private static func handleSignal() -> CInt? {
      let number = eventfd(0, CInt(EFD_CLOEXEC))
      guard number >= 0 else { return nil }
      descriptor.store(number, ordering: .sequentiallyConsistent)
      let previous = signal(SIGINT) { _ in
        signal(SIGINT, SIG_DFL)
        _ = eventfd_write(Interruption.descriptor.load(ordering: .sequentiallyConsistent), 1)
      }
      // SAFETY: both are addresses, which aren't called.
      if unsafeBitCast(previous, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self) {
        signal(SIGINT, SIG_IGN)
        return nil
      }
      return number
    }
  }
#endif
