// Latch and Awaited: how Swift tasks wait for an event or a result of another thread, such as a response.

internal import LupineReactor
internal import Synchronization

/// A latch that opens once. Any number of Swift tasks can wait until it is open.
///
/// The type isn't generic, because generic async functions look up their types at each step.
@usableFromInline package struct Latch: ~Copyable, Sendable {
  private let resumptions: Resumptions?
  private let waiting = Mutex(SuspendedTasks())
  /// Whether the latch is open. Changed while holding the lock of `waiting`. A Swift task that has waited reads it again, because
  /// ThreadSanitizer doesn't see that a resumption orders memory accesses.
  private let isOpen = Atomic(false)

  /// Creates a closed latch. `resumptions` resumes the Swift tasks that wait for it. If nil, they are resumed immediately.
  @usableFromInline package init(_ resumptions: Resumptions? = nil) { self.resumptions = resumptions }

  /// Opens the latch and resumes the Swift tasks that wait for it. Must be called only once.
  @usableFromInline package func open() {
    let tasks = waiting.withLock { waiting in
      precondition(!isOpen.load(ordering: .relaxed), "a latch was opened twice")
      isOpen.store(true, ordering: .releasing)
      return waiting.take()
    }
    tasks.forEach { task in if let resumptions { resumptions.resume(task) } else { task.resume() } }
  }

  /// Waits until the latch is open. If the awaiting Swift task is cancelled, calls `onCancel`, but continues to wait.
  @usableFromInline package nonisolated(nonsending) func pass(onCancel: (@Sendable () -> Void)?) async {
    guard !isOpen.load(ordering: .acquiring) else { return }
    guard let onCancel else { return await wait() }
    await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      onCancel()
    }
  }

  private nonisolated(nonsending) func wait() async {
    await SuspendedTask.suspend { task in
      let waits = waiting.withLock { waiting in
        // Checked again under the lock, because the latch may have been opened in the meantime.
        guard !isOpen.load(ordering: .relaxed) else { return false }
        waiting.append(task)
        return true
      }
      if !waits { task.resume() }
    }
    precondition(isOpen.load(ordering: .acquiring), "a waiting task was resumed before its latch was opened")
  }
}

// Unchecked because the value is stored before the latch is opened, and read after it was passed.
/// Stores a value, which any number of Swift tasks can await. Storing and awaiting the value take the latch's lock, which costs less
/// than a Swift task.
@usableFromInline package final class Awaited<Value: Sendable>: @unchecked Sendable {
  // An object, because reading a part of an optional value would copy the whole value, and the deinit of a generic class would look
  // up the optional's type. Not in a Mutex, for which the deinit would look up three types.
  /// The object that holds the value, or nil before the value has been stored.
  @usableFromInline var stored: Content?
  @usableFromInline let latch: Latch

  /// Creates an object without a value. `resumptions` resumes the Swift tasks that wait for the value. If nil, they are resumed
  /// immediately.
  @inlinable package init(_ resumptions: Resumptions? = nil) { latch = Latch(resumptions) }

  /// An object that holds a value.
  @usableFromInline package final class Content: Sendable {
    @usableFromInline package let value: Value

    @inlinable init(_ value: consuming Value) { self.value = value }
  }

  /// The object that holds the value. Must be read only after the value has been stored, and by Swift tasks only after
  /// `wait(onCancel:)` has returned.
  @inlinable package var content: Content {
    guard let stored else { preconditionFailure("a value was read before it was stored") }
    return stored
  }

  /// Stores the value, which replaces an earlier one. Must not be called after `open()`.
  @inlinable package func store(_ value: consuming Value) { stored = Content(value) }

  /// Resumes the Swift tasks that wait for the value. Must be called only once.
  @inlinable package func open() { latch.open() }

  /// Stores the value and resumes the Swift tasks that wait for it.
  @inlinable package func fill(_ value: consuming Value) {
    store(value)
    open()
  }

  /// Waits until the value can be read. If the awaiting Swift task is cancelled, calls `onCancel`, but continues to wait.
  @inlinable package nonisolated(nonsending) func wait(onCancel: (@Sendable () -> Void)? = nil) async {
    await latch.pass(onCancel: onCancel)
  }

  /// Waits like `wait(onCancel:)`, and returns the value.
  @inlinable package nonisolated(nonsending) func value(onCancel: (@Sendable () -> Void)? = nil) async -> Value {
    await wait(onCancel: onCancel)
    return content.value
  }
}

/// Calls `call` with a completion handler, and returns the value that the handler receives. `call` must call the handler once.
@discardableResult
package func firstValue<Value: Sendable>(_ call: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
  let awaited = Awaited<Value>()
  call { awaited.fill($0) }
  return await awaited.value()
}
