// DownloadDestination: moves a download's temporary file to its destination.

package import Foundation
import Glibc
import LupineEngine

/// The destination of a downloaded file, and the changes allowed for the move.
///
/// A move either succeeds completely or leaves the file in its place, so that no program sees an incomplete file at the
/// destination. Within a file system, a move is one rename. To another file system, the file is first copied to a temporary name
/// next to the destination, and then renamed.
package struct DownloadDestination: Sendable {
  package let url: URL
  /// Whether missing directories of the path are created.
  package let createsIntermediateDirectories: Bool
  /// Whether an existing file or link at the destination is replaced, in the same step as the move, so that it stays if the move
  /// fails. A directory is never replaced.
  package let removesPreviousFile: Bool

  package init(url: URL, createsIntermediateDirectories: Bool = false, removesPreviousFile: Bool = false) {
    self.url = url
    self.createsIntermediateDirectories = createsIntermediateDirectories
    self.removesPreviousFile = removesPreviousFile
  }

  /// Moves a file to the destination. The file keeps its permissions, which are for its owner only.
  ///
  /// Throws if source and destination are the same, as `FileManager` does, even with `removesPreviousFile`, because the file
  /// would be removed with its download.
  ///
  /// - Throws: `CocoaError` with Foundation's code for the failure: `.fileWriteFileExists`, `.fileNoSuchFile` for a missing
  ///   directory, `.fileWriteNoPermission`, `.fileWriteOutOfSpace`, `.fileWriteVolumeReadOnly` and others; or the error of
  ///   creating directories.
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
        // The copy is complete. If the source can't be removed, the system's cleaning of temporary files removes it.
        try? File.remove(source.path)
      }
    } catch {
      throw moveError(error, source)
    }
  }

  // A link at the destination is a file other than its target. Links among the directories are resolved.
  private func isPlace(of source: URL) -> Bool {
    url.lastPathComponent == source.lastPathComponent
      && url.deletingLastPathComponent().resolvingSymlinksInPath().path
        == source.deletingLastPathComponent().resolvingSymlinksInPath().path
  }

  /// Copies the file to a temporary name next to the destination, and renames the copy.
  private func copy(from source: URL) throws(SystemError) {
    // The rename would detect this too, but only after the whole file has been copied.
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
    let code: CocoaError.Code =
      switch error.code {
      case EEXIST: .fileWriteFileExists
      case ENOENT: .fileNoSuchFile
      case EACCES, EPERM: .fileWriteNoPermission
      case ENOSPC, EDQUOT: .fileWriteOutOfSpace
      case EROFS: .fileWriteVolumeReadOnly
      case ENAMETOOLONG: .fileWriteInvalidFileName
      default: .fileWriteUnknown
      }
    return CocoaError(
      code,
      userInfo: [
        NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error.posixError,
        NSLocalizedDescriptionKey: "\(source.path) can't be moved to \(url.path): \(error). "
          + "\(remedy ?? self.remedy(error.code)).",
      ])
  }

  private func remedy(_ code: CInt) -> String {
    switch code {
    case EEXIST: "Choose another destination, or pass .removePreviousFile"
    case EISDIR, ENOTEMPTY: "Choose a destination that isn't a directory, because directories aren't replaced"
    case ENOENT: "Create the directory first, or pass .createIntermediateDirectories"
    case ENOTDIR: "Choose a destination whose parent is a directory"
    case EACCES, EPERM, EROFS: "Choose a writable directory"
    case ENOSPC, EDQUOT: "Free space there, or choose another destination"
    case ENAMETOOLONG: "Choose a shorter name"
    default: "Choose another destination"
    }
  }
}

extension WritableFile {
  /// Writes the content of another file to the start of this one.
  fileprivate func write(contentsOf input: borrowing File) throws(SystemError) {
    // The size of the loop's socket reads. A larger one isn't noticeably faster.
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
