// URLError+CacheFolder: the error for a cache whose folder can't be used.

import Foundation
import LupineEngine
import LupineLibc

extension URLError {
  /// Creates the error for a cache whose folder can't be used.
  init(unusableCacheFolder folder: String, _ error: SystemError) {
    // `Folder` throws EPERM if another user owns or can change the folder, or if anyone can replace entries of a parent.
    let remedy =
      error.code == EPERM
      ? "Another user owns or can change it or a folder above it: remove that permission, or choose another directory."
      : "Choose a directory that this user can create and write to."
    let text = "The cache can't use the folder \(folder), and stores responses in memory only (\(error)). \(remedy)"
    self.init(.cannotOpenFile, text, path: folder, underlying: error.posixError)
  }

  /// Writes the error's text as one line to standard error.
  @Sendable static func warn(_ error: URLError) {
    FileHandle.standardError.write(Data("Lupine: \(error.localizedDescription)\n".utf8))
  }
}
