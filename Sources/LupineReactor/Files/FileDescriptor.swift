// FileDescriptor: a file descriptor with a single owner, closed when the owner is destroyed.

internal import LupineLibc

/// A file descriptor that is closed exactly once.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The number by which system calls identify the descriptor.
  package let number: CInt

  /// Takes ownership of the open descriptor with this number.
  package init(owning number: CInt) {
    precondition(number >= 0, "a descriptor must not be negative")
    self.number = number
  }

  /// Returns the state of the descriptor's file (fstat(2)).
  func status() throws(SystemError) -> stat {
    let number = number
    var status = stat()
    _ = try SystemCall.run("fstat") { fstat(number, &status) }
    return status
  }

  /// Takes the exclusive lock of the descriptor's file (flock(2)). Fails with EWOULDBLOCK if another descriptor has the lock.
  func lock() throws(SystemError) {
    let number = number
    _ = try SystemCall.run("flock") { flock(number, LOCK_EX | LOCK_NB) }
  }

  /// Closes the descriptor. Throws a `SystemError` if closing fails, for example because a file's last bytes can't be stored.
  package consuming func close() throws(SystemError) {
    let number = number
    discard self
    if LupineLibc.close(number) != 0, errno != EINTR { throw SystemError(call: "close", code: errno) }
  }

  deinit {
    // Linux closes the descriptor even if close fails with EINTR, so the call isn't repeated.
    _ = LupineLibc.close(number)
  }
}
