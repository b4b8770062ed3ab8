// errno and EINTR, in one place.

internal import Glibc

enum SystemCall {
  /// Runs a call that answers -1 on failure; repeats it when a signal interrupted it.
  @inline(__always)
  static func run(_ name: StaticString, _ body: () -> CInt) throws(SystemError) -> CInt {
    while true {
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { throw SystemError(call: name.description, code: errno) }
    }
  }

  /// Runs a call that transfers bytes; nil when it would block.
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

  /// Runs a call that is to transfer `count` bytes. For a closed socket it answers -1 with EPIPE, or how many went out before
  /// the socket was closed, but would also raise SIGPIPE, which ends the process.
  static func withoutBrokenPipeSignal(count: Int, _ body: () -> Int) -> Int {
    var brokenPipe = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    let result = body()
    let code = errno
    // The signal goes to this thread, and has to be taken before it is let through. If it was blocked before, whoever
    // did that lives with a pending one.
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
