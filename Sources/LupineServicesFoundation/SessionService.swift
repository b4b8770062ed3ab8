// SessionService: the life cycle of a session in a program that swift-service-lifecycle starts and stops.

#if Services
  public import LupineServices
  public import LupineURLSession
  public import ServiceLifecycle

  /// Invalidates a session when its service group shuts down.
  ///
  /// List the service before the server, as described at `EngineService`. For a session of Alamofire's API, pass the session's
  /// `session`. The service is optional: a session that is invalidated or released closes its connections. The shared session can't
  /// be invalidated, so its service only waits for the shutdown.
  public struct SessionService: Service {
    private let session: URLSession
    private let gracefulShutdownLimit: Duration

    /// Creates a service. `gracefulShutdownLimit` is the maximum time for which a graceful shutdown waits for the session's tasks.
    /// Then they are cancelled.
    public init(_ session: URLSession, gracefulShutdownLimit: Duration = EngineService.gracefulShutdownLimit) {
      self.session = session
      self.gracefulShutdownLimit = gracefulShutdownLimit
    }

    /// Waits for a graceful shutdown of the group, lets the session finish its tasks, and returns when it has become invalid.
    ///
    /// If the task is cancelled, before or during the graceful shutdown, the session's tasks are cancelled at once.
    public func run() async {
      await withTaskCancellationHandler {
        if (try? await gracefulShutdown()) != nil {
          session.finishTasksAndInvalidate()
        } else {
          session.invalidateAndCancel()
        }
        await ended()
      } onCancel: {
        session.invalidateAndCancel()
      }
    }

    /// Returns when the session has become invalid. Cancels its tasks after the time limit.
    private func ended() async {
      await withTaskGroup { group in
        group.addTask {
          // Ends early when the session has become invalid.
          if (try? await Task.sleep(for: gracefulShutdownLimit)) != nil { session.invalidateAndCancel() }
        }
        await withCheckedContinuation { continuation in
          session.whenInvalid { continuation.resume() }
        }
        group.cancelAll()
      }
    }
  }
#endif
