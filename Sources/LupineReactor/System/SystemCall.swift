// SystemCall: runs system calls, retries them after signals and converts errno to errors.

internal import LupineLibc

package enum SystemCall {
  /// Runs a system call that returns -1 on failure, and repeats it if a signal interrupts it. Returns the call's result, or throws
  /// an error with its errno.
  @inline(__always)
  package static func run(_ name: StaticString, _ body: () -> CInt) throws(SystemError) -> CInt {
    while true {
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { throw SystemError(call: name.description, code: errno) }
    }
  }

  /// Runs a system call that transfers bytes. Returns the number of bytes, or nil if the call would block.
  @inline(__always)
  static func transfer(_ name: StaticString, _ body: () -> Int) throws(SystemError) -> Int? {
    while true {
      let result = body()
      if result >= 0 { return result }
      switch errno {
      case EINTR: continue
      case EAGAIN: return nil
      default: throw SystemError(call: name.description, code: errno)
      }
    }
  }

  /// Runs a system call that transfers `count` bytes, without raising SIGPIPE, which would end the process. On a closed socket, the
  /// system call returns -1 with EPIPE, or the number of bytes sent before the socket was closed.
  static func withoutBrokenPipeSignal(count: Int, _ body: () -> Int) -> Int {
    var brokenPipe = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    let result = body()
    let code = errno
    // SIGPIPE is sent to this thread, and must be consumed before it is unblocked. If the caller had blocked SIGPIPE, the
    // signal stays pending.
    let isSuspect = result < 0 ? code == EPIPE : result < count
    if isSuspect, sigismember(&before, SIGPIPE) == 0 {
      var none = timespec()
      sigtimedwait(&brokenPipe, nil, &none)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return result
  }
}
