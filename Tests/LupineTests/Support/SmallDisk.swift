// A file system that is soon full, for one test.

import Foundation
import Glibc
import LupineTestSupport

/// A tmpfs of 64 KiB in a mount namespace of a child's own, so that nothing is left of it when the child has ended.
final class SmallDisk: Sendable {
  /// Whether this machine lets a test have one: it takes root, or user namespaces.
  static let isAvailable = (try? SmallDisk()) != nil

  private struct Unavailable: Error {}

  /// Its root, as other processes see it.
  let folder: URL
  private let child: ChildProcess
  /// Where the child reads and writes; it ends when this is closed.
  private let socket: FileHandle

  init() throws {
    var ends: [CInt] = [-1, -1]
    // Not for the processes that other tests start, in which it would stay open.
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Unavailable()
    }
    socket = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    let script = "mount -t tmpfs -o size=64k,mode=700 tmpfs /mnt && echo mounted && exec cat"
    child = try ChildProcess(
      ["/usr/bin/unshare"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--mount", "sh", "-c", script],
      input: .descriptor(other.fileDescriptor), output: .descriptor(other.fileDescriptor), errors: .file("/dev/null"))
    // The child's alone from now on, so that its end shows.
    try other.close()
    folder = URL(filePath: "/proc/\(child.processIdentifier)/root/mnt")
    // Nothing comes if the mount has failed.
    guard socket.availableData.starts(with: Data("mounted".utf8)), access(folder.path, W_OK) == 0 else {
      end()
      throw Unavailable()
    }
  }

  deinit { end() }

  private func end() {
    try? socket.close()
    child.awaitEnd()
  }
}
