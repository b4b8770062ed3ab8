// The temporary file that a download's body is written to.

import Foundation
import LupineEngine
import Synchronization

/// A file that a body goes to piece by piece. It has an end: finished, kept or abandoned; without one it is removed.
///
/// After the first failure nothing is left on disk. What comes behind an end is ignored, since pieces may be under way
/// to it. Calls may come from any thread, one after the other, and block as long as the disk does.
final class DownloadFile: Sendable {
  private struct State: ~Copyable {
    /// Nil after the end.
    var file: WritableFile?
    var byteCount: UInt64
    var failure: URLError?
  }

  /// Where it is.
  let url: URL
  /// What is downloaded, for errors.
  private let source: URL?
  /// How many bytes the whole file will have; nil if that isn't known.
  private let total: Mutex<UInt64?>
  private let state: Mutex<State>

  /// Takes over an open file that holds `byteCount` bytes already.
  init(_ file: consuming WritableFile, holding byteCount: UInt64 = 0, from source: URL?, total: UInt64? = nil) {
    url = URL(filePath: file.path)
    self.source = source
    self.total = Mutex(total)
    state = Mutex(State(file: file, byteCount: byteCount))
  }

  deinit { abandon() }

  /// Makes an empty file in a folder, readable by its owner only.
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

  /// Opens the file of an earlier download behind what that has received; what is longer is cut off.
  ///
  /// Nil if there is no such file any more, or it can't be the one: it is shorter, or a link, or another user's. Then
  /// the download starts afresh.
  ///
  /// - Throws: `URLError.cannotOpenFile` if the file is there and can't be opened.
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

  /// How many bytes it holds.
  var byteCount: UInt64 { state.withLock { $0.byteCount } }

  /// Appends a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`; then the file is gone.
  func write(_ data: Data) throws(URLError) {
    try write(data.span)
  }

  /// Appends a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`; then the file is gone.
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

  /// Drops what was received, as the server sends the body from its start after all.
  ///
  /// - Throws: `URLError.cannotWriteToFile`; then the file is gone.
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

  /// Closes the file, which is complete, and hands it over.
  ///
  /// - Parameter byteCountDue: how many bytes it has to hold, the `total` of ``ResumeAnswer/append(at:total:)``: a part
  ///   may end well, as chunks do, before all of it came. Nil for a body whose framing says when it is complete.
  /// - Throws: `URLError.cannotCloseFile` if its last bytes found no room, `.badServerResponse` if it hasn't the bytes
  ///   that are due, and the error of an earlier call; then the file is gone. `.cancelled` if it was kept or abandoned.
  func finish(byteCountDue: UInt64? = nil) throws(URLError) -> URL {
    try close()
    if let byteCountDue, byteCountDue != byteCount { throw failIncomplete(byteCountDue) }
    return url
  }

  /// Closes the file and leaves it where it is, for resume data.
  ///
  /// - Throws: what `finish` throws.
  func keep() throws(URLError) {
    try close()
  }

  /// Closes and removes the file.
  func abandon() {
    // Let go of it under the lock, so that one call alone removes the name.
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

  /// Removes the file and remembers why.
  private func fail(_ error: URLError) -> URLError {
    state.withLock { state in
      _ = state.file.take()
      state.failure = error
    }
    try? File.remove(url.path)
    return error
  }
}

/// What the temporary files of downloads are called.
enum DownloadFileName {
  private static let prefix = "lupine-download-"
  private static let suffix = ".tmp"
  /// 128 random bits, so that nobody guesses a name in a folder that is everybody's.
  private static let digitCount = 32

  static func random() -> String {
    let digits = (0..<digitCount).map { _ in String(UInt8.random(in: 0...15), radix: 16) }
    return prefix + digits.joined() + suffix
  }

  /// Whether a name is one of these. Resume data comes from the caller's store, and must not name just any file.
  static func matches(_ name: some StringProtocol) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return digits.count == digitCount
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
