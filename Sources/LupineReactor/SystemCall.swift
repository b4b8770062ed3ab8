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
}
