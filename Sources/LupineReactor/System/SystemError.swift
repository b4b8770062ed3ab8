// SystemError: a failed system call with its errno.

internal import LupineLibc

/// The error of a system call that has failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the system call, such as "connect".
  public let call: String
  /// The value to which the system call set errno.
  public let code: Int32

  /// Creates an error from a system call's name and the value of errno.
  public init(call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// The system call and the C library's text for the code, such as "connect: Connection refused".
  public var description: String {
    // SAFETY: strerror_r writes at most 256 bytes into the buffer, including the NUL.
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
      guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else { return "error \(code)" }
      return String(cString: base)
    }
    return "\(call): \(text)"
  }

  /// Whether no descriptor is available in this process (EMFILE) or in the system (ENFILE).
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
  /// Whether the kernel has no memory for a socket (ENOMEM, ENOBUFS), or for watching a socket (ENOSPC:
  /// fs.epoll.max_user_watches).
  package var isOutOfMemory: Bool { code == ENOMEM || code == ENOBUFS || code == ENOSPC }
  /// Whether no process listens on the port (ECONNREFUSED).
  public var isConnectionRefused: Bool { code == ECONNREFUSED }
  /// Whether there is no network: no route to the address, or no link that is up (ENETUNREACH, ENETDOWN, ENONET).
  public var isNoNetwork: Bool { code == ENETUNREACH || code == ENETDOWN || code == ENONET }
  /// Whether the backlog of a Unix socket's server is full (EAGAIN), so that a later attempt may succeed.
  package var isQueueFull: Bool { code == EAGAIN }
  /// Whether the peer has closed or reset the connection (ECONNRESET, EPIPE, ECONNABORTED).
  public var isConnectionReset: Bool { code == ECONNRESET || code == EPIPE || code == ECONNABORTED }
  /// Whether the system call isn't supported, at least with these arguments (EINVAL, ENOSYS, EOPNOTSUPP).
  package var isNotSupported: Bool { code == EINVAL || code == ENOSYS || code == EOPNOTSUPP }
  /// Whether a file with the new name exists already (EEXIST).
  package var isExistingFile: Bool { code == EEXIST }
  /// Whether a file caused the error: the file is shorter than its announced length (ENODATA), or reading its disk failed (EIO).
  package var isFilesFault: Bool { code == ENODATA || code == EIO }

  /// The error (EPROTO) for a peer that violates a protocol below HTTP, such as TLS.
  package static func protocolError(_ call: String) -> SystemError { SystemError(call: call, code: EPROTO) }
  /// The error (EOPNOTSUPP) for a call that doesn't support its arguments.
  package static func notSupported(_ call: String) -> SystemError { SystemError(call: call, code: EOPNOTSUPP) }

  /// The error (ENAMETOOLONG) for a path that can't be the path of a Unix socket.
  package static func unusableSocketPath(_ path: String) -> SystemError {
    SystemError(call: "connect \(path)", code: ENAMETOOLONG)
  }
}
