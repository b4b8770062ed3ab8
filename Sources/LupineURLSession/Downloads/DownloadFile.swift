// DownloadFile: the temporary file to which a download's body is written.

import Foundation
import LupineEngine
import Synchronization

/// A file to which a body is written in pieces. It is finished, kept or abandoned once; otherwise it is removed when it is
/// released.
///
/// After the first failure, the file is removed. Calls after the end are ignored, because pieces may still be in flight. Calls
/// may come from any thread, but not concurrently, and block for disk I/O.
final class DownloadFile: Sendable {
  private struct State: ~Copyable {
    /// Nil after the end.
    var file: WritableFile?
    var byteCount: UInt64
    var failure: URLError?
  }

  /// The file's URL.
  let url: URL
  /// The URL of the download, for errors.
  private let source: URL?
  /// The expected size of the complete file in bytes; nil if unknown.
  private let total: Mutex<UInt64?>
  private let state: Mutex<State>

  /// Creates an object for an open file that already has `byteCount` bytes.
  init(_ file: consuming WritableFile, holding byteCount: UInt64 = 0, from source: URL?, total: UInt64? = nil) {
    url = URL(filePath: file.path)
    self.source = source
    self.total = Mutex(total)
    state = Mutex(State(file: file, byteCount: byteCount))
  }

  deinit { abandon() }

  /// Creates an empty file in a directory. Only its owner can read it.
  ///
  /// - Throws: `URLError.cannotCreateFile`.
  static func create(
    in folder: URL = FileManager.default.temporaryDirectory, from source: URL?, total: UInt64? = nil
  ) throws(URLError) -> DownloadFile {
    let path = folder.appending(path: DownloadFileName.random()).path
    do throws(SystemError) {
      return DownloadFile(try WritableFile(creating: path), from: source, total: total)
    } catch {
      throw URLError(.cannotCreateFile, DownloadFileFailure(action: .created, path: path, error: error), url: source)
    }
  }

  /// Opens the file of an earlier download at the end of the bytes that were received, and truncates it there.
  ///
  /// Returns nil if there is no such file, or if it can't be that of the download: it is shorter, a link, or owned by another
  /// user. The download then restarts.
  ///
  /// - Throws: `URLError.cannotOpenFile` if the file exists but can't be opened.
  static func reopen(_ resumeData: ResumeData) throws(URLError) -> DownloadFile? {
    do throws(SystemError) {
      let file = try WritableFile(reopening: resumeData.path)
      let byteCount = try file.byteCount()
      guard byteCount >= resumeData.receivedByteCount else { return nil }
      if byteCount > resumeData.receivedByteCount { try file.truncate(to: resumeData.receivedByteCount) }
      return DownloadFile(
        file, holding: resumeData.receivedByteCount, from: resumeData.url, total: resumeData.totalByteCount)
    } catch  where error.isMissingOrForeignFile {
      return nil
    } catch {
      let failure = DownloadFileFailure(action: .opened, path: resumeData.path, error: error)
      throw URLError(.cannotOpenFile, failure, url: resumeData.url)
    }
  }

  /// The size of the file in bytes.
  var byteCount: UInt64 { state.withLock { $0.byteCount } }

  /// Appends a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`. The file is then removed.
  func write(_ data: Data) throws(URLError) {
    try write(data.span)
  }

  /// Appends a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`. The file is then removed.
  func write(_ bytes: borrowing Span<UInt8>) throws(URLError) {
    let error = state.withLock { state -> SystemError? in
      do throws(SystemError) {
        try state.file?.write(bytes, at: state.byteCount)
        if state.file != nil { state.byteCount += UInt64(bytes.count) }
        return nil
      } catch {
        return error
      }
    }
    if let error { throw fail(.cannotWriteToFile, .written, error) }
  }

  /// Empties the file, because the server sends the body from its start.
  ///
  /// - Throws: `URLError.cannotWriteToFile`. The file is then removed.
  func startAfresh(total: UInt64?) throws(URLError) {
    self.total.withLock { $0 = total }
    let error = state.withLock { state -> SystemError? in
      do throws(SystemError) {
        try state.file?.truncate(to: 0)
        if state.file != nil { state.byteCount = 0 }
        return nil
      } catch {
        return error
      }
    }
    if let error { throw fail(.cannotWriteToFile, .written, error) }
  }

  /// Closes the complete file and returns its URL. The caller owns the file from now on.
  ///
  /// - Parameter byteCountDue: The size in bytes that the file must have, the `total` of ``ResumeAnswer/append(at:total:)``: a
  ///   part sent in chunks may end early without an error. Nil if the body's framing determines its end.
  /// - Throws: `URLError.cannotCloseFile` if the disk has no space for the last bytes; `.badServerResponse` if bytes are missing;
  ///   or the error of an earlier call. The file is then removed. `.cancelled` if the file was kept or abandoned.
  func finish(byteCountDue: UInt64? = nil) throws(URLError) -> URL {
    try close()
    if let byteCountDue, byteCountDue != byteCount { throw failIncomplete(byteCountDue) }
    return url
  }

  /// Closes the file and keeps it in its place, for resume data.
  ///
  /// - Throws: The errors of `finish`.
  func keep() throws(URLError) {
    try close()
  }

  /// Closes and removes the file.
  func abandon() {
    // Taken under the lock, so that only one call removes the file.
    let wasOpen = state.withLock { state in state.file.take() != nil }
    if wasOpen { try? File.remove(url.path) }
  }

  private func close() throws(URLError) {
    let (ended, error) = state.withLock { state -> (URLError?, SystemError?) in
      guard let file = state.file.take() else { return (state.failure ?? URLError(.cancelled), nil) }
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

  private func failIncomplete(_ byteCountDue: UInt64) -> URLError {
    let description = """
      \(source.map(ReadableText.url) ?? url.path): The file has \(byteCount) bytes, but the server announced \
      \(byteCountDue). Download it from the start.
      """
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    if let source { info[NSURLErrorFailingURLErrorKey] = source }
    return fail(URLError(.badServerResponse, userInfo: info))
  }

  private func fail(_ code: URLError.Code, _ action: DownloadFileFailure.Action, _ error: SystemError) -> URLError {
    var failure = DownloadFileFailure(action: action, path: url.path, error: error)
    failure.received = (byteCount, total.withLock { $0 })
    return fail(URLError(code, failure, url: source))
  }

  /// Removes the file and stores the error.
  private func fail(_ error: URLError) -> URLError {
    state.withLock { state in
      _ = state.file.take()
      state.failure = error
    }
    try? File.remove(url.path)
    return error
  }
}

/// The names of downloads' temporary files.
enum DownloadFileName {
  private static let prefix = "lupine-download-"
  private static let suffix = ".tmp"
  /// Hex digits with 128 random bits, so that another user can't guess a name in a shared directory.
  private static let digitCount = 32

  static func random() -> String {
    let digits = (0..<digitCount).map { _ in String(UInt8.random(in: 0...15), radix: 16) }
    return prefix + digits.joined() + suffix
  }

  /// Returns whether a name has this form. Resume data is untrusted, and must not name other files.
  static func matches(_ name: some StringProtocol) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return digits.count == digitCount
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
