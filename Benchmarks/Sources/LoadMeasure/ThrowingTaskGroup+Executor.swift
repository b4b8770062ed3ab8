// ThrowingTaskGroup+Executor: the tasks of the load generators, with or without an executor.

extension ThrowingTaskGroup where Failure == any Error {
  /// Adds a task that prefers `executor`, or an ordinary task if it is nil. A task that prefers nil would search for its executor at
  /// each suspension, which takes about 180 instructions.
  public mutating func addTask(
    on executor: (any TaskExecutor)?, _ operation: sending @escaping @isolated(any) () async throws -> ChildTaskResult
  ) {
    if let executor {
      addTask(executorPreference: executor, operation: operation)
    } else {
      addTask(operation: operation)
    }
  }
}
