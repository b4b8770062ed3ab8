// What a process has at a moment: descriptors, files, memory. For tests that have a process of their own.

import Foundation
import Glibc
import Testing

/// What is left in this process.
enum Left {
  /// What the descriptors lead to that requests open: sockets, what loops wait on, and files in a folder.
  static func descriptors(below folder: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", folder].contains {
        target?.hasPrefix($0) == true
      } ? target : nil
    }
  }

  /// The names of the files in a folder and the folders within.
  static func files(in folder: URL) -> [String] {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return paths.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  /// The most memory that this process has had at once.
  static var residentBytesMax: Int {
    get throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try #require(Int(line.filter(\.isNumber))) << 10
    }
  }

  /// Whether a sanitizer's own memory stands in the way of measuring.
  static var isSanitized: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }
}
