// The task executor of a session's event loop.

import LupineURLSession

extension Session {
  /// A task executor that runs Swift tasks on the thread of the session's event loop, or of the first loop if there are several.
  ///
  /// A server or a load generator that runs its tasks on this executor keeps them on the thread that serves their sockets:
  ///
  /// ```swift
  /// let body = try await withTaskExecutorPreference(session.executor) {
  ///   try await session.request("https://example.org/").serializingData().value
  /// }
  /// ```
  ///
  /// The tasks must not block, because they would block the loop. Reading the property throws a `URLError` if the session's
  /// engine can't be started.
  public var executor: any TaskExecutor { get throws { try session.executor } }
}
