// URLSessionTask+Priority: the task's priority among the tasks that wait for a connection.

import Synchronization

extension URLSessionTask {
  /// The priority that was set for the task. Nil if the default priority applies.
  var explicitPriority: Float? { option { $0.priority } }

  /// The default priority of tasks: 0.5.
  public static var defaultPriority: Float { 0.5 }
  /// A priority below the default priority: 0.25.
  public static var lowPriority: Float { 0.25 }
  /// A priority above the default priority: 0.75.
  public static var highPriority: Float { 0.75 }
}
