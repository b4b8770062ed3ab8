// `SmallDisk`: a file system that fills up after 64 KiB, for one test.

package import Foundation
internal import Glibc

/// A file system (tmpfs) of 64 KiB in the mount namespace of a child process. When the child ends, the kernel removes the file
/// system.
package final class SmallDisk: Sendable {
  /// Whether this machine can mount a small disk. Mounting requires root or user namespaces.
  package static let isAvailable = (try? SmallDisk()) != nil

  private struct Unavailable: Error {}

  /// The root folder of the file system, by a path that works in this process.
  package let folder: URL
  private let child: ChildProcess
  /// The socket that is the child process's standard input and output. The child ends when this socket is closed.
  private let socket: FileHandle

  package init() throws {
    var ends: [CInt] = [-1, -1]
    // The sockets are close-on-exec. Otherwise, a child process of another test could inherit a socket and keep it open.
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Unavailable()
    }
    socket = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    let script = "mount -t tmpfs -o size=64k,mode=700 tmpfs /mnt && echo mounted && exec cat"
    child = try ChildProcess(
      ["/usr/bin/unshare"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--mount", "sh", "-c", script],
      input: .descriptor(other.fileDescriptor), output: .descriptor(other.fileDescriptor), errors: .file("/dev/null"))
    // From here on, only the child has this end open, so reading from the other end returns when the child ends.
    try other.close()
    folder = URL(filePath: "/proc/\(child.processIdentifier)/root/mnt")
    // If mount fails, the child ends and nothing is read.
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
