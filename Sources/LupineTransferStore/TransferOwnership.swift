// TransferOwnership: the lock of a session's folder, without which no file in the folder may be changed.

internal import LupineReactor
internal import Synchronization

/// A background session's folder with its lock, which the store and its records share. Methods may be called on any thread.
final class TransferOwnership: Sendable {
  private struct State: ~Copyable {
    /// The locked file, or nil after the lock was released. When the process ends, the kernel releases the lock too.
    var file: WritableFile?
    /// The number of calls that are changing files in the folder.
    var userCount = 0
    var hasEnded = false

    mutating func releaseIfUnused() {
      guard hasEnded, userCount == 0 else { return }
      file?.unlock()
      _ = file.take()
    }
  }

  let folder: Folder
  private let state: Mutex<State>

  /// Takes ownership of the folder and its locked file.
  init(_ folder: Folder, _ file: consuming WritableFile) {
    self.folder = folder
    state = Mutex(State(file: file))
  }

  /// Calls `call`, which changes files in the folder, and holds the lock during the call.
  ///
  /// After `end`, returns nil without calling `call`, because another process may own the folder, and may have given the same ids
  /// to other tasks.
  @discardableResult
  func whileOpen<Value>(_ call: () -> Value) -> Value? {
    let isOpen = state.withLock { state in
      if !state.hasEnded { state.userCount += 1 }
      return !state.hasEnded
    }
    guard isOpen else { return nil }
    defer {
      state.withLock { state in
        state.userCount -= 1
        state.releaseIfUnused()
      }
    }
    return call()
  }

  /// Releases the lock of the folder, immediately or when the calls in progress have ended.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.releaseIfUnused()
    }
  }
}
