// EngineService: the life cycle of an engine in a program that swift-service-lifecycle starts and stops.

#if Services
  public import LupineEngine
  public import ServiceLifecycle

  /// Shuts an engine down when its service group does.
  ///
  /// List the service before the server and other services that send requests. A group shuts its services down in reverse order,
  /// one after the other, so that the server has completed its last response when the engine shuts down:
  ///
  ///     let group = ServiceGroup(
  ///       services: [EngineService(engine), server], gracefulShutdownSignals: [.sigterm], logger: logger)
  ///     try await group.run()
  ///
  /// The service is optional. An engine that is released ends by itself: its connections are closed and its threads end. Without
  /// the service, requests that are in flight when the process exits are aborted.
  public struct EngineService: Service {
    private let engine: Engine
    private let gracefulShutdownLimit: Duration

    /// The default time limit of a graceful shutdown: 20 s, so that Kubernetes, which kills a process after 30 s, doesn't kill it
    /// while its services shut down.
    public static let gracefulShutdownLimit = Duration.seconds(20)

    /// Creates a service. `gracefulShutdownLimit` is the maximum time for which a graceful shutdown waits for the requests in
    /// flight. Then they fail with `.shutDown`.
    public init(_ engine: Engine, gracefulShutdownLimit: Duration = Self.gracefulShutdownLimit) {
      self.engine = engine
      self.gracefulShutdownLimit = gracefulShutdownLimit
    }

    /// Waits for a graceful shutdown of the group, shuts the engine down gracefully, and returns when its connections are closed.
    ///
    /// If the task is cancelled, before or during the graceful shutdown, all requests in flight fail at once with `.shutDown`. The
    /// group cancels the task, for example, when another service has failed, or after its `maximumGracefulShutdownDuration`.
    public func run() async {
      await withTaskCancellationHandler {
        // An error means that the task was cancelled.
        let isGraceful = (try? await gracefulShutdown()) != nil
        await engine.shutdown(isGraceful: isGraceful, limit: gracefulShutdownLimit)
      } onCancel: {
        engine.close()
      }
    }
  }
#endif
