// Programs that are built together with the tests, and `Resources`: the descriptors, files and memory of a dedicated process.

import Foundation
import Glibc
import LupineTestSupport
import Testing

/// Runs a program that was built into the test bundle's folder. Returns the program's exit status and output.
func runProgram(_ command: [String]) async throws -> (status: Int32, output: String) {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: command[0])
  let (status, output) = try await ChildProcess.run([program.path] + command.dropFirst())
  return (status, String(decoding: output, as: UTF8.self))
}

/// Reads which file descriptors, files and memory this process uses.
enum Resources {
  /// Returns the targets of this process's open descriptors of the kinds that requests open: sockets, the event loops' epoll
  /// and eventfd descriptors, and files below the folder.
  static func descriptors(below folder: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", folder].contains {
        target?.hasPrefix($0) == true
      } ? target : nil
    }
  }

  /// Returns the paths of the files below the folder, relative to the folder.
  static func files(in folder: URL) -> [String] {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return paths.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  /// The peak resident memory of this process, in bytes.
  static var residentBytesMax: Int {
    get throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try #require(Int(line.filter(\.isNumber))) << 10
    }
  }

  /// Whether the process runs with AddressSanitizer or ThreadSanitizer, whose memory use makes measurements meaningless.
  static var isSanitized: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }
}
