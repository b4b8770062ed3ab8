// DownloadDestination: moves a downloaded file to the destination that the caller has chosen.

package import Foundation
import LupineEngine
import LupineLibc

/// The destination of a downloaded file, and the options for moving the file there.
///
/// A move either succeeds completely or leaves the downloaded file where it was, so the destination never contains a partial file.
/// Within one file system, the file is renamed. Otherwise it is copied to a temporary file next to the destination, and that copy
/// is renamed.
package struct DownloadDestination: Sendable {
  package let url: URL
  /// Whether missing parent directories of the destination are created.
  package let createsIntermediateDirectories: Bool
  /// Whether an existing file or link at the destination is replaced. If the downloaded file can't be moved, the existing file
  /// remains. A directory is never replaced.
  package let removesPreviousFile: Bool

  package init(url: URL, createsIntermediateDirectories: Bool = false, removesPreviousFile: Bool = false) {
    self.url = url
    self.createsIntermediateDirectories = createsIntermediateDirectories
    self.removesPreviousFile = removesPreviousFile
  }

  /// Moves a downloaded file to the destination. The file keeps its permissions: only its owner can read and write it.
  ///
  /// If the destination is the downloaded file itself, this method throws an error, as `FileManager` does, even if existing files
  /// may be replaced. Otherwise the caller would believe that the file has been moved, but the session would remove it as a
  /// temporary file.
  ///
  /// - Throws: `CocoaError` with Foundation's code for the failure, such as `.fileWriteFileExists`,
  ///   `.fileNoSuchFile` for a missing directory, `.fileWriteNoPermission`, `.fileWriteOutOfSpace` or
  ///   `.fileWriteVolumeReadOnly`, or the error of creating a directory.
  package func move(from source: URL) throws {
    guard url.isFileURL else { throw CocoaError(.fileWriteUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
    if createsIntermediateDirectories {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    if isPlace(of: source) {
      throw moveError(
        SystemError(call: "rename", code: EEXIST), source,
        remedy: "It is the download's temporary file. Choose another destination")
    }
    do throws(SystemError) {
      do throws(SystemError) {
        try File.move(source.path, to: url.path, replaces: removesPreviousFile)
      } catch  where error.code == EXDEV {
        try copy(from: source)
        // The copy is complete. If the original can't be removed, the system eventually cleans up the temporary directory.
        try? File.remove(source.path)
      }
    } catch {
      throw moveError(error, source)
    }
  }

  // Resolves symbolic links in the paths' directories. A link at the destination itself isn't followed, so it doesn't count as the
  // downloaded file.
  private func isPlace(of source: URL) -> Bool {
    url.lastPathComponent == source.lastPathComponent
      && url.deletingLastPathComponent().resolvingSymlinksInPath().path
        == source.deletingLastPathComponent().resolvingSymlinksInPath().path
  }

  /// Copies the downloaded file to a temporary file next to the destination, and renames that file to the destination's name.
  private func copy(from source: URL) throws(SystemError) {
    // Without this check, renaming the copy would fail too, but only after the entire file has been copied.
    guard removesPreviousFile || !File.exists(url.path) else { throw SystemError(call: "rename", code: EEXIST) }
    let neighbour = url.deletingLastPathComponent().appending(path: ".\(DownloadFileName.random())").path
    let input = try File(reading: source.path)
    let output = try WritableFile(creating: neighbour)
    do throws(SystemError) {
      try output.write(contentsOf: input)
      try output.close()
      try File.move(neighbour, to: url.path, replaces: removesPreviousFile)
    } catch {
      try? File.remove(neighbour)
      throw error
    }
  }

  private func moveError(_ error: SystemError, _ source: URL, remedy: String? = nil) -> CocoaError {
    let (code, usualRemedy): (CocoaError.Code, String) =
      switch error.code {
      case EEXIST: (.fileWriteFileExists, "Choose another destination, or pass .removePreviousFile")
      case EISDIR, ENOTEMPTY:
        (.fileWriteUnknown, "Choose a destination that isn't a directory, because directories aren't replaced")
      case ENOENT: (.fileNoSuchFile, "Create the directory first, or pass .createIntermediateDirectories")
      case ENOTDIR: (.fileWriteUnknown, "Choose a destination whose parent is a directory")
      case EACCES, EPERM: (.fileWriteNoPermission, "Choose a writable directory")
      case EROFS: (.fileWriteVolumeReadOnly, "Choose a writable directory")
      case ENOSPC, EDQUOT: (.fileWriteOutOfSpace, "Free space there, or choose another destination")
      case ENAMETOOLONG: (.fileWriteInvalidFileName, "Choose a shorter name")
      default: (.fileWriteUnknown, "Choose another destination")
      }
    return CocoaError(
      code,
      userInfo: [
        NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error.posixError,
        NSLocalizedDescriptionKey: "\(source.path) can't be moved to \(url.path): \(error). \(remedy ?? usualRemedy).",
      ])
  }
}

extension WritableFile {
  /// Copies the entire content of `input` to this file.
  fileprivate func write(contentsOf input: borrowing File) throws(SystemError) {
    // 64 KiB, the maximum that the engine reads from a socket at once. Larger pieces are hardly faster.
    let pieceBytes = 64 * 1024
    var piece: [UInt8] = []
    var offset: UInt64 = 0
    while try input.read(pieceBytes, at: offset, into: &piece) > 0 {
      try write(piece.span, at: offset)
      offset += UInt64(piece.count)
      piece.removeAll(keepingCapacity: true)
    }
  }
}
