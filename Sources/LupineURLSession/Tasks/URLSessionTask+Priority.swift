// URLSessionTask+Priority: the task's priority among the tasks that wait for a connection.

import Synchronization

extension URLSessionTask {
  /// The priority among the tasks that wait for a connection, from 0 to 1. ``defaultPriority`` by default.
  ///
  /// If a limit of connections is reached, the waiting task with the highest priority gets the next connection. Tasks of equal
  /// priority get connections in order of arrival. A steady load of tasks with a high priority can therefore keep tasks with a
  /// low priority waiting until they time out. The priority has no effect on tasks that already have a connection. A change
  /// applies to the requests that the task sends afterward, such as those of redirects.
  public var priority: Float {
    get {
      options?.state.withLock { $0.priority } ?? originalRequest?.options?.own.priority ?? Self.defaultPriority
    }
    set { makeOptions().state.withLock { $0.priority = newValue } }
  }

  /// The priority that was set on the task, or nil if none was set.
  var explicitPriority: Float? { options?.state.withLock { $0.priority } }

  /// The priority of tasks that don't set one: 0.5.
  public static var defaultPriority: Float { 0.5 }
  /// A priority below the default priority: 0.25.
  public static var lowPriority: Float { 0.25 }
  /// A priority above the default priority: 0.75.
  public static var highPriority: Float { 0.75 }
}
