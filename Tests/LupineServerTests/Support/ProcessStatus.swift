// ProcessStatus: memory and descriptors of this process, as the kernel reports them.

import Glibc
import Testing

enum ProcessStatus {
  /// Whether the loopback interface has the address ::1. If it doesn't, the test servers don't listen there.
  static var hasIPv6: Bool {
    let interfaces = try? text(of: "/proc/net/if_inet6").split(separator: "\n")
    return interfaces?.contains { $0.hasPrefix("00000000000000000000000000000001 ") } == true
  }

  /// Returns a value of /proc/self/status in KiB, such as "VmRSS" for the current resident memory and "VmHWM" for its peak.
  static func kibibytes(_ name: String) throws -> Int {
    let line = try #require(try text(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix("\(name):") })
    return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  /// The approximate factor by which a sanitizer increases the memory of this process, or 1 without a sanitizer.
  static var memoryFactor: Int {
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil ? 32 : 1
  }

  /// The targets of this process's descriptors in /proc/self/fd, for the kinds that an engine opens: sockets, epoll and eventfd.
  static var engineDescriptors: [String] {
    guard let folder = opendir("/proc/self/fd") else { return [] }
    defer { closedir(folder) }
    var targets: [String] = []
    var target = [CChar](repeating: 0, count: 256)
    while let entry = readdir(folder) {
      let length = readlinkat(dirfd(folder), &entry.pointee.d_name.0, &target, target.count)
      guard length > 0 else { continue }
      let text = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]"].contains(where: text.hasPrefix) {
        targets.append(text)
      }
    }
    return targets
  }

  /// Raises this process's limit of open descriptors to `count`. Throws if the hard limit is lower.
  static func allowDescriptors(_ count: UInt) throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    try #require(
      limit.rlim_max >= count,
      "this test needs \(count) descriptors, and the limit is \(limit.rlim_max); raise it: ulimit -Hn \(count)")
    limit.rlim_cur = max(limit.rlim_cur, count)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
  }

  /// Returns the content of a file in /proc, whose size may be several megabytes.
  static func bytes(of path: String) throws -> [UInt8] {
    let number = open(path, O_RDONLY | O_CLOEXEC)
    try #require(number >= 0, "\(path) can't be opened")
    defer { close(number) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while case let count = read(number, &buffer, buffer.count), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }

  /// Returns the content of a file in /proc, as text.
  static func text(of path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }
}
