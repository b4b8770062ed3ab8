// `Left`: the process's open descriptors, remaining files and peak memory. For tests that run in a dedicated process.

import Foundation
import Glibc
import Testing

/// The resources that this process has left.
enum Left {
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
