// The errors of background sessions and their tasks.

import Foundation
import LupineEngine
import LupineLibc
import LupineTransferStore

/// The reason why a background session refuses a new task. The task then fails with a `URLError`, whereas Foundation would raise an
/// exception.
enum BackgroundRefusal {
  case uploadFromMemory, uploadFromStream, completionHandler, bodyStream, connectionSettings, localURL

  var error: URLError {
    let text =
      switch self {
      case .uploadFromMemory: "Uploads from memory aren't supported in background sessions. Upload a file."
      case .uploadFromStream: "Uploads from streams aren't supported in background sessions. Upload a file."
      case .completionHandler:
        "Completion handlers and async methods aren't supported in background sessions. Use a delegate."
      case .bodyStream: "A background session can't store a request whose body is a stream. Set httpBody instead."
      case .connectionSettings:
        "A background session can't record the settings lupine.tls, lupine.proxy and lupine.hostOverrides of a single request. "
          + "Set them for the entire session, in URLSessionConfiguration.engine."
      case .localURL: "Background sessions don't support file: and data: URLs. Use another session."
      }
    return URLError(.unsupportedURL, text)
  }
}

extension URLError {
  /// Returns the error of a background session that can't open its folder, in which it records its tasks on disk.
  static func backgroundSession(_ identifier: String, _ folder: String, _ error: TransferStoreError) -> URLError {
    switch error {
    case .inUse:
      let text =
        "Another session uses the identifier \(identifier), in this process or another. Invalidate that session, or end its process."
      return URLError(.backgroundSessionInUseByAnotherProcess, text, path: folder)
    case .system(let error) where error.code == EPERM:
      let text =
        "The folder \(folder) isn't used: another user owns or can change the folder, its lock or a folder above it. Remove that "
        + "permission with chmod go-w, or set `lupineBackground.directory` to a folder of your own."
      return URLError(.cannotOpenFile, text, path: folder, underlying: error.posixError)
    case .system, .tooLarge, .closed:
      return record(error, .cannotOpenFile, "The background session's records in \(folder) can't be opened")
    }
  }

  /// Returns the error for a background session's identifier that can't be the name of a directory because it is empty or too long.
  static func unusableIdentifier(_ identifier: String) -> URLError {
    URLError(
      .cannotCreateFile,
      "The identifier of a background session must have 1 to 255 bytes, not \(identifier.utf8.count). Choose another.")
  }

  /// Returns the error for a background task whose record on disk can't be written or read. The error's message begins with `what`.
  /// `code` is the error's code if a system call failed.
  static func record(_ error: TransferStoreError, _ code: Code, _ what: String) -> URLError {
    switch error {
    case .inUse: URLError(.backgroundSessionInUseByAnotherProcess)
    case .closed:
      URLError(
        .cancelled,
        "\(what): the session has been invalidated, or the task has completed. Create a new session or a new task.")
    case .tooLarge:
      URLError(
        .dataLengthExceedsMaximum,
        "\(what): the stored request exceeds \(TransferFormat.headBytesMax) bytes. Upload a large body from a file.")
    case .system(let error):
      URLError(
        code,
        "\(what) (\(error)). Check the disk, its permissions and the process's descriptor limit, or set "
          + "lupineBackground.directory to another folder.", underlying: error.posixError)
    }
  }

  /// Returns the error for a background task whose record on disk is damaged. `id` is the task's identifier.
  static func damagedRecord(_ id: Int, in folder: String) -> URLError {
    URLError(
      .cannotOpenFile,
      "The record of task \(id) in \(folder) was damaged, and has been removed. Create the task again.")
  }

  /// Returns the error for a background upload that the server answered, but whose response an earlier process hadn't received
  /// completely when it ended. `status` is the response's status code.
  static func answerLost(_ status: UInt32, url: URL?) -> URLError {
    URLError(
      .networkConnectionLost,
      "\(ReadableText.url(url)): The upload was answered with the status code \(status), but the process ended "
        + "before the rest of the response had been received. Check the server before you send the file again.")
  }

  /// Returns the error for a task that hasn't completed within `timeoutIntervalForResource`. `limit` is that interval in seconds.
  static func expired(_ limit: TimeInterval, url: URL?) -> URLError {
    URLError(
      .timedOut,
      "\(ReadableText.url(url)): The transfer didn't complete within \(ReadableText.duration(limit)), the "
        + "session's timeoutIntervalForResource. Raise it, or check the network and the server.")
  }
}
