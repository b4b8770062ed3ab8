// Programs that are built together with the tests, and `Resources`: the descriptors, files and memory of a dedicated process.

import Foundation
import Glibc
import LupineTestSupport
import Testing

/// Runs a program from the folder of the test bundle. Returns its exit status and its output.
func runProgram(_ command: [String]) async throws -> (status: Int32, output: String) {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: command[0])
  let (status, output) = try await ChildProcess.run([program.path] + command.dropFirst())
  return (status, String(decoding: output, as: UTF8.self))
}

/// The resources that this process has left.
enum Resources {
  /// Returns the targets of open descriptors of the kinds that requests open: sockets, the event loops' epoll and
  /// eventfd, and files below the folder.
  static func descriptors(below folder: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", folder].contains {
        target?.hasPrefix($0) == true
      } ? target : nil
    }
  }

  /// Returns the paths of the files below the folder, relative to it.
  static func files(in folder: URL) -> [String] {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return paths.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  /// The process's peak resident memory, in bytes.
  static var residentBytesMax: Int {
    get throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try #require(Int(line.filter(\.isNumber))) << 10
    }
  }

  /// Whether a sanitizer is linked. Its own memory makes measurements meaningless.
  static var isSanitized: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }
}
