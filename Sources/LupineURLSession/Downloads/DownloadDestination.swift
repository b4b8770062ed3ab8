// The step that gives a download's file its place.

package import Foundation
import Glibc
import LupineEngine

/// Where a downloaded file goes, and what may be changed for that.
///
/// A move either happens as a whole or leaves the file where it was: nobody ever sees half a file at the destination.
/// Within a file system it is one step; into another the file is copied beside the destination under a name of its own,
/// and then given its name in one step.
package struct DownloadDestination: Sendable {
  package let url: URL
  /// Whether folders of the path that are missing are made.
  package let createsIntermediateDirectories: Bool
  /// Whether a file, or a link, at the destination is replaced, which happens in the same step, so that it stays if the
  /// move fails. A folder is never removed for a file.
  package let removesPreviousFile: Bool

  package init(url: URL, createsIntermediateDirectories: Bool = false, removesPreviousFile: Bool = false) {
    self.url = url
    self.createsIntermediateDirectories = createsIntermediateDirectories
    self.removesPreviousFile = removesPreviousFile
  }

  /// Moves a file there. The file keeps its permissions, those of its owner only.
  ///
  /// Its own place is refused, as `FileManager` does, whatever may be removed: the file would go with its download.
  ///
  /// - Throws: `CocoaError`, with Foundation's code for what failed: `.fileWriteFileExists`, `.fileNoSuchFile` for a
  ///   missing folder, `.fileWriteNoPermission`, `.fileWriteOutOfSpace`, `.fileWriteVolumeReadOnly`, …, and what making
  ///   folders throws.
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
        // The copy is complete; a source that can't be removed is the system's to clean up.
        try? File.remove(source.path)
      }
    } catch {
      throw moveError(error, source)
    }
  }

  // A link that stands at the destination is another file than what it leads to; the folders' links count.
  private func isPlace(of source: URL) -> Bool {
    url.lastPathComponent == source.lastPathComponent
      && url.deletingLastPathComponent().resolvingSymlinksInPath().path
        == source.deletingLastPathComponent().resolvingSymlinksInPath().path
  }

  /// Copies the file to a neighbour of the destination, and gives that its name.
  private func copy(from source: URL) throws(SystemError) {
    // Moving the neighbour would find that out, but only behind a copy of everything.
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
  /// Writes all of another file to the start of this one.
  fileprivate func write(contentsOf input: borrowing File) throws(SystemError) {
    // As much as the loop reads at once from a socket: more gains little.
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
