// A failed system call: which one, and errno.

internal import Glibc

/// What the kernel answered to a call that failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The call's name, such as "connect".
  public let call: String
  /// The value of errno.
  public let code: Int32

  /// Creates an error from a call's name and errno.
  public init(call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// The call and the system's text for the code, such as "connect: Connection refused".
  public var description: String {
    // SAFETY: strerror_r writes at most 256 bytes into the buffer, NUL included.
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
      guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else { return "error \(code)" }
      return String(cString: base)
    }
    return "\(call): \(text)"
  }

  /// No descriptor was free, in this process (EMFILE) or in the system (ENFILE).
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
  /// The kernel has no memory left for a socket, or to watch one (ENOMEM, ENOBUFS; ENOSPC: fs.epoll.max_user_watches).
  package var isOutOfMemory: Bool { code == ENOMEM || code == ENOBUFS || code == ENOSPC }
  /// Nobody listens on the port (ECONNREFUSED).
  public var isConnectionRefused: Bool { code == ECONNREFUSED }
  /// As many connections wait at a Unix socket as its server lets wait (EAGAIN); it may take one soon.
  package var isQueueFull: Bool { code == EAGAIN }
  /// The peer, or the kernel on its behalf, cut the connection.
  public var isConnectionReset: Bool { code == ECONNRESET || code == EPIPE || code == ECONNABORTED }
  /// The call can't be done with what it was given (EINVAL, ENOSYS, EOPNOTSUPP).
  package var isNotSupported: Bool { code == EINVAL || code == ENOSYS || code == EOPNOTSUPP }
  /// A file is shorter than it was said to be (ENODATA), or its disk is broken (EIO).
  package var isFilesFault: Bool { code == ENODATA || code == EIO }

  /// A Unix socket can't have that path (ENAMETOOLONG).
  package static func unusableSocketPath(_ path: String) -> SystemError {
    SystemError(call: "connect \(path)", code: ENAMETOOLONG)
  }
}
