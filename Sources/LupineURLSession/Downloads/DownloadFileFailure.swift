// DownloadFileFailure: the error message for a download's file that can't be created, opened or written.

import Foundation
import LupineEngine
import LupineLibc

/// A failed system call on the file of a download.
struct DownloadFileFailure {
  enum Action: String {
    case created, opened, written
  }

  let action: Action
  let path: String
  let error: SystemError
  /// The number of bytes that were received before the failure, and the expected total, which is nil if unknown. The whole property
  /// is nil if the file was never open.
  var received: (count: UInt64, total: UInt64?)?

  var description: String {
    "\(path) can't be \(action.rawValue)\(progress): \(reason). \(remedy)."
  }

  private var progress: String {
    guard let received else { return "" }
    let total = received.total.map { " of \(grouped($0))" } ?? ""
    return " after \(grouped(received.count))\(total) bytes"
  }

  /// The system's error message without the name of the system call, because `description` already says which action failed.
  private var reason: String {
    let text = error.description
    return text.hasPrefix("\(error.call): ") ? String(text.dropFirst(error.call.count + 2)) : text
  }

  private var remedy: String {
    switch error.code {
    case ENOSPC, EDQUOT: "Free space there, or choose another temporary directory (TMPDIR)"
    case EFBIG: "Raise the file size limit (ulimit -f), or choose another file system (TMPDIR)"
    case EIO: "Check the disk's health (dmesg), or choose another temporary directory (TMPDIR)"
    case EMFILE, ENFILE: "Raise the descriptor limit (ulimit -n)"
    default: "Choose a writable temporary directory (TMPDIR)"
    }
  }

  /// Formats a number with a comma between groups of three digits, such as 1,234,567.
  private func grouped(_ number: UInt64) -> String {
    let digits = String(number)
    return digits.enumerated().reduce(into: "") { text, digit in
      if digit.offset > 0, (digits.count - digit.offset).isMultiple(of: 3) { text.append(",") }
      text.append(digit.element)
    }
  }
}

extension URLError {
  /// Creates the error for a failed system call on the file of a download. The system's error becomes the underlying error.
  init(_ code: Code, _ failure: DownloadFileFailure, url: URL?) {
    self.init(code, failure.description, url: url, path: failure.path, underlying: failure.error.posixError)
  }
}

extension SystemError {
  /// The `POSIXError` with the same code, which callers may check for. If there is none, this error itself.
  var posixError: any Error {
    POSIXErrorCode(rawValue: code).map { POSIXError($0) as any Error } ?? self
  }

  /// Whether a file couldn't be opened because it doesn't exist, isn't a regular file, or belongs to another user.
  var isMissingOrForeignFile: Bool { [ENOENT, ENOTDIR, ELOOP, EISDIR, EINVAL, EPERM, ENXIO].contains(code) }
}
