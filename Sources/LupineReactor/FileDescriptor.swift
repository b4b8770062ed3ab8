// A descriptor with one owner; closed when the owner goes.

internal import Glibc

/// A file descriptor that is closed exactly once.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The kernel's number for it.
  package let number: CInt

  /// Takes over an open descriptor.
  package init(owning number: CInt) {
    precondition(number >= 0, "not a descriptor")
    self.number = number
  }

  /// Closes it now, and says what failed: a file's last bytes may find no room only then.
  package consuming func close() throws(SystemError) {
    let number = number
    discard self
    if Glibc.close(number) != 0, errno != EINTR { throw SystemError(call: "close", code: errno) }
  }

  deinit {
    // EINTR from close leaves the descriptor closed on Linux, so it isn't repeated.
    _ = Glibc.close(number)
  }
}
