// DownloadFile: the temporary file to which a download's body is written.

import Foundation
import LupineEngine
import LupineLibc
import Synchronization

/// The file to which a download's body is written piece by piece. The owner must end the download with `finish`, `keep` or
/// `abandon`. Otherwise the file is removed when this object is released.
///
/// After the first failure, the file is removed, and later pieces of the body are ignored. The methods may be called on any thread,
/// but only one at a time. They may block the thread on disk I/O.
final class DownloadFile: Sendable {
  private struct State: ~Copyable {
    /// The open file on disk. Nil after `finish`, `keep` or `abandon`, and after a failure.
    var file: WritableFile?
    var byteCount: UInt64
    /// The length of the complete file in bytes, or nil if it is unknown.
    var total: UInt64?
    var failure: URLError?
  }

  /// The `file:` URL of this file on disk.
  let url: URL
  /// The URL from which the file is downloaded, for error messages.
  private let source: URL?
  /// Whether the open file is locked, so that no other download continues it at the same time.
  private let isLocked: Bool
  private let state: Mutex<State>

  /// Creates a download file from an open file on disk that already contains `byteCount` bytes of the body.
  init(
    _ file: consuming WritableFile, holding byteCount: UInt64 = 0, from source: URL?, total: UInt64? = nil,
    isLocked: Bool = false
  ) {
    url = URL(filePath: file.path)
    self.source = source
    self.isLocked = isLocked
    state = Mutex(State(file: file, byteCount: byteCount, total: total))
  }

  deinit { abandon() }

  /// Creates an empty file with a random name in a directory. Only the file's owner can read the file.
  ///
  /// - Throws: `URLError.cannotCreateFile`.
  static func create(
    in folder: URL = FileManager.default.temporaryDirectory, from source: URL?, total: UInt64? = nil
  ) throws(URLError) -> DownloadFile {
    try create(at: folder.appending(path: DownloadFileName.random()).path, from: source, total: total)
  }

  /// Creates an empty file at a path. Only the file's owner can read the file.
  ///
  /// - Throws: `URLError.cannotCreateFile`, also if a file already exists at the path.
  static func create(at path: String, from source: URL?, total: UInt64? = nil) throws(URLError) -> DownloadFile {
    do throws(SystemError) {
      return DownloadFile(try WritableFile(creating: path), from: source, total: total)
    } catch {
      throw URLError(.cannotCreateFile, DownloadFileFailure(action: .created, path: path, error: error), url: source)
    }
  }

  /// Opens the partial file of an earlier download, so that the rest of the body can be appended. Truncates the file to the number
  /// of bytes that the resume data states.
  ///
  /// Returns nil if the file no longer exists, or can't be the earlier download's file because it is shorter, a link, or owned by
  /// another user, and also if another download has opened it with the same resume data. The download then starts from the
  /// beginning.
  ///
  /// - Throws: `URLError.cannotOpenFile` if the file exists but can't be opened.
  static func reopen(_ resumeData: ResumeData) throws(URLError) -> DownloadFile? {
    do throws(SystemError) {
      let file = try WritableFile(reopening: resumeData.path)
      do throws(SystemError) {
        try file.lock()
      } catch  where error.code == EWOULDBLOCK {
        return nil
      } catch {
        // The file system has no locks.
      }
      let byteCount = try file.byteCount()
      guard byteCount >= resumeData.receivedByteCount else { return nil }
      if byteCount > resumeData.receivedByteCount { try file.truncate(to: resumeData.receivedByteCount) }
      return DownloadFile(
        file, holding: resumeData.receivedByteCount, from: resumeData.url, total: resumeData.totalByteCount,
        isLocked: true)
    } catch  where error.isMissingOrForeignFile {
      return nil
    } catch {
      let failure = DownloadFileFailure(action: .opened, path: resumeData.path, error: error)
      throw URLError(.cannotOpenFile, failure, url: resumeData.url)
    }
  }

  /// The number of bytes in the file, including those that an earlier download has written.
  var byteCount: UInt64 { state.withLock { $0.byteCount } }

  /// Appends a piece of the body to the file.
  ///
  /// - Throws: `URLError.cannotWriteToFile`, after removing the file.
  func write(_ data: Data) throws(URLError) {
    try change { state throws(SystemError) in
      try state.file?.write(data.span, at: state.byteCount)
      state.byteCount += UInt64(data.count)
    }
  }

  /// Empties the file. Called if the server sends the entire body again instead of only the rest. `total` is the new length of the
  /// complete file in bytes, or nil if it is unknown.
  ///
  /// - Throws: `URLError.cannotWriteToFile`, after removing the file.
  func startAfresh(total: UInt64?) throws(URLError) {
    try change { state throws(SystemError) in
      state.total = total
      try state.file?.truncate(to: 0)
      state.byteCount = 0
    }
  }

  /// Calls `change`, unless the file has been closed.
  private func change(_ change: (inout State) throws(SystemError) -> Void) throws(URLError) {
    do throws(SystemError) {
      try state.withLock { state throws(SystemError) in if state.file != nil { try change(&state) } }
    } catch {
      throw fail(.cannotWriteToFile, .written, error)
    }
  }

  /// Closes the file after the last piece of the body, and returns the file's URL. Afterward, the caller owns the file and must
  /// remove it.
  ///
  /// - Parameter byteCountDue: The number of bytes that the file must have, or nil to accept any number because the framing of the
  ///   body determines its end. For a resumed download, pass the `total` of ``ResumeAnswer/append(at:total:)``: a server may answer
  ///   the request for the rest of the resource with a shorter part.
  /// - Throws: `URLError.cannotCloseFile` if the last bytes couldn't be written, `.badServerResponse` if the file has another
  ///   length, or the error of an earlier call. After these errors, the file has been removed. Throws `.cancelled` after `keep` or
  ///   `abandon`.
  func finish(byteCountDue: UInt64? = nil) throws(URLError) -> URL {
    try keep()
    if let byteCountDue, byteCountDue != byteCount { throw failIncomplete(byteCountDue) }
    return url
  }

  /// Closes the file without removing it, so that resume data can refer to it.
  ///
  /// - Throws: The errors of `finish`.
  func keep() throws(URLError) {
    let (ended, error) = state.withLock { state -> (URLError?, SystemError?) in
      guard let file = state.file.take() else { return (state.failure ?? URLError(.cancelled), nil) }
      // Closing the file alone releases the lock only after a child process that is being started has closed its copy.
      if isLocked { file.unlock() }
      do throws(SystemError) {
        try file.close()
        return (nil, nil)
      } catch {
        return (nil, error)
      }
    }
    if let ended { throw ended }
    if let error { throw fail(.cannotCloseFile, .written, error) }
  }

  /// Closes and removes the file. Has no effect after `finish` or `keep`, or after a failure.
  func abandon() {
    // The file is removed before it is closed. Closing it releases its lock, so that another download could continue it.
    state.withLock { state in
      guard state.file != nil else { return }
      try? File.remove(url.path)
      _ = state.file.take()
    }
  }

  private func failIncomplete(_ byteCountDue: UInt64) -> URLError {
    let description = """
      \(source.map(ReadableText.url) ?? url.path): The file has \(byteCount) bytes, but the server announced \
      \(byteCountDue). Download it from the start.
      """
    return fail(URLError(.badServerResponse, description, url: source))
  }

  private func fail(_ code: URLError.Code, _ action: DownloadFileFailure.Action, _ error: SystemError) -> URLError {
    var failure = DownloadFileFailure(action: action, path: url.path, error: error)
    let (byteCount, total) = state.withLock { ($0.byteCount, $0.total) }
    failure.received = (byteCount, total)
    return fail(URLError(code, failure, url: source))
  }

  /// Removes the file, and stores the error, which later calls of `finish` and `keep` will throw. Returns the error.
  private func fail(_ error: URLError) -> URLError {
    // The file is removed before it is closed, as in `abandon`.
    state.withLock { state in
      state.failure = error
      try? File.remove(url.path)
      _ = state.file.take()
    }
    return error
  }
}

/// Creates and recognizes the random names of downloads' temporary files.
enum DownloadFileName {
  private static let prefix = "lupine-download-"
  private static let suffix = ".tmp"
  /// The number of random hex digits in a file name: 32, for 128 bits, so that other users of a shared directory can't guess the
  /// name.
  private static let digitCount = 32

  static func random() -> String {
    let digits = (0..<digitCount).map { _ in String(UInt8.random(in: 0...15), radix: 16) }
    return prefix + digits.joined() + suffix
  }

  /// Returns whether `name` could be a result of `random()`. Used to check the path in resume data, because resume data comes from
  /// the caller and must not refer to other files.
  static func matches(_ name: some StringProtocol) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return digits.count == digitCount
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
