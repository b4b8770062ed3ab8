// SendingThread: the thread that sends the requests of a load test or of a worker, and the time of day for its logs.

#if Bench
  internal import LupineEngine
  internal import LupineLibc

  /// Runs work that blocks, because it sleeps between requests.
  enum SendingThread {
    /// Runs `work` on a new thread, and returns its result. If the awaiting task is cancelled, calls `onCancel`, but waits on.
    static func run<Value: Sendable>(
      _ work: @escaping @Sendable () -> Value, onCancel: @Sendable () -> Void
    ) async throws(SystemError) -> Value {
      let result: Result<Value, SystemError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          do throws(SystemError) {
            try Thread.start(name: "lupine-bench") { continuation.resume(returning: .success(work())) }
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      } onCancel: {
        onCancel()
      }
      return try result.get()
    }
  }

  enum TimeOfDay {
    /// The time in seconds since 1970.
    static var seconds: Double {
      var time = timespec()
      // SAFETY: the structure is valid during the call, which initializes it.
      clock_gettime(CLOCK_REALTIME, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  }
#endif
