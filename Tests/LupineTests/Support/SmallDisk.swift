// A file system that is soon full, for one test.

import Foundation
import Glibc

/// A tmpfs of 64 KiB in a mount namespace of a child's own, so that nothing is left of it when the child has ended.
final class SmallDisk: Sendable {
  /// Whether this machine lets a test have one: it takes root, or user namespaces.
  static let isAvailable = (try? SmallDisk()) != nil

  private struct Unavailable: Error {}

  /// Its root, as other processes see it.
  let folder: URL
  private let process = Process()
  /// The child ends when this does.
  private let input = Pipe()

  init() throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    let script = "mount -t tmpfs -o size=64k,mode=700 tmpfs /mnt && echo mounted && exec cat"
    process.arguments = (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--mount", "sh", "-c", script]
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
    try process.run()
    folder = URL(filePath: "/proc/\(process.processIdentifier)/root/mnt")
    // Nothing comes if the mount has failed.
    guard output.fileHandleForReading.availableData.starts(with: Data("mounted".utf8)),
      access(folder.path, W_OK) == 0
    else {
      end()
      throw Unavailable()
    }
  }

  deinit { end() }

  private func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
