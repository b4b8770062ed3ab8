// KernelConnection: loopback connections as the kernel lists them, with unread bytes and state.

import Glibc
import LupineEngine
import LupineTestSupport

/// One end of an open IPv4 connection over loopback, as listed in /proc/net/tcp (proc(5)).
struct KernelConnection {
  let localPort: UInt16
  /// The number of bytes that this end has written and the other end hasn't acknowledged.
  let unsentCount: Int
  /// The number of bytes that this end has received and its process hasn't read.
  let unreadCount: Int

  /// The codes of the TCP states ESTABLISHED and CLOSE_WAIT. The search skips other states, because thousands of connections may be
  /// in TIME_WAIT.
  private static let openStates = ["01", "08"]

  /// Returns the connection ends with this local and this remote port. A nil local port matches any port.
  static func all(from local: UInt16? = nil, to remote: UInt16) throws -> [KernelConnection] {
    let table = try ProcessStatus.bytes(of: "/proc/net/tcp")
    return openStates.flatMap { state in
      let words = (local.map { "\(address($0)) " } ?? "") + "\(address(remote)) \(state) "
      return table.ends(of: words).compactMap { KernelConnection(table, behindStateAt: $0) }
    }
  }

  // A line of the table: sl: local_address rem_address st tx_queue:rx_queue ...
  private init?(_ table: [UInt8], behindStateAt place: Int) {
    let start = place - "0100007F:1234 0100007F:1234 01 ".utf8.count
    let fields = String(decoding: table[start..<place + "12345678:12345678".utf8.count], as: UTF8.self)
    let numbers = fields.split { $0 == " " || $0 == ":" }.compactMap { Int($0, radix: 16) }
    guard numbers.count == 7 else { return nil }
    localPort = UInt16(numbers[1])
    unsentCount = numbers[5]
    unreadCount = numbers[6]
  }

  private static func address(_ port: UInt16) -> String {
    let digits = String(port, radix: 16, uppercase: true)
    return "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Waits until this process has closed its end of the connection. Returns false if that takes longer than a minute.
  static func closes(from local: UInt16, to server: Server) async throws -> Bool {
    try await settles { try all(from: local, to: server.rawValue).isEmpty }
  }
}

extension [UInt8] {
  /// Returns the offset after each occurrence of `words`. Uses strstr, because loops are slow in a debug build.
  fileprivate func ends(of words: String) -> [Int] {
    (self + [0]).withUnsafeBytes { table in
      guard let start = table.assumingMemoryBound(to: CChar.self).baseAddress else { return [] }
      var ends: [Int] = []
      var place = 0
      while let found = strstr(start + place, words) {
        place = start.distance(to: found) + words.utf8.count
        ends.append(place)
      }
      return ends
    }
  }
}
