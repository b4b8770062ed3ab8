// A request in the parts that mutations change, and as the bytes that are sent.

/// A request of HTTP/1.1, right or wrong.
struct RequestShape {
  struct Line {
    var name: String
    var separator = ": "
    var value: String
  }

  /// Bytes in front of the request line.
  var front: [UInt8] = []
  var method: String
  var target: String
  var version = "HTTP/1.1"
  /// What stands between the words of the request line.
  var space = " "
  var lines: [Line]
  var lineEnd = "\r\n"
  var body: [UInt8] = []
  /// Bytes behind the body.
  var behind: [UInt8] = []

  /// Every scalar below U+0100 is one byte.
  var bytes: [UInt8] {
    var text = method + space + target
    if !version.isEmpty { text += space + version }
    text += lineEnd
    for line in lines { text += line.name + line.separator + line.value + lineEnd }
    text += lineEnd
    return front + text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + body + behind
  }

  /// The value of the first line of that name, in any case.
  func first(_ name: String) -> String? {
    lines.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  mutating func remove(_ name: String) {
    lines.removeAll { $0.name.lowercased() == name.lowercased() }
  }

  mutating func set(_ name: String, _ value: String) {
    remove(name)
    lines.append(Line(name: name, value: value))
  }
}

/// One request of a run: its bytes, and what makes them odd.
struct MutatedRequest {
  /// From 1; 0 is the request without a mutation.
  let number: Int
  let bytes: [UInt8]
  /// What was done to it, in that order; empty for the good request.
  let mutations: [String]
  /// A server may wait for more of it, and say nothing for as long.
  let mayBeUnfinished: Bool

  /// Whether a server may take it for HTTP/0.9, whose replies have no head.
  var looksLike09: Bool {
    let line = bytes.drop { $0 == 13 || $0 == 10 }.prefix { $0 != 10 && $0 != 13 }
    return !String(decoding: line, as: UTF8.self).uppercased().contains("HTTP/")
  }

  /// Whether a server may take it for one to HEAD, whose reply announces a body that doesn't come.
  var mayBeHead: Bool { String(decoding: bytes.prefix(64), as: UTF8.self).uppercased().contains("HEAD") }
}

extension MutatedRequest {
  /// Whether the bytes are a whole request to whoever reads them strictly: an empty line, and as much behind it as any
  /// length says. In doubt they aren't.
  static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard let headEnd = end(ofHead: bytes) else { return false }
    let head = String(decoding: bytes[..<headEnd], as: UTF8.self).lowercased()
    let body = bytes[headEnd...]
    if head.utf8.count != headEnd || head.contains("transfer-encoding") {
      return String(decoding: body, as: UTF8.self).utf8.suffix(5).elementsEqual("0\r\n\r\n".utf8)
    }
    for line in head.split(whereSeparator: \.isNewline) where line.contains("content-length") {
      let number = line.utf8.filter { $0 &- 0x30 < 10 }
      guard number.count < 10, let length = Int(String(decoding: number, as: UTF8.self)) else { return false }
      if length > body.count { return false }
    }
    return true
  }

  private static func end(ofHead bytes: [UInt8]) -> Int? {
    let end = Array("\r\n\r\n".utf8)
    guard bytes.count >= end.count else { return nil }
    // Empty lines in front of a request are skipped (RFC 9112 §2.2).
    let start = bytes.firstIndex { $0 != 13 && $0 != 10 } ?? bytes.count
    var index = start
    while index + end.count <= bytes.count {
      if bytes[index..<index + end.count].elementsEqual(end) { return index + end.count }
      index += 1
    }
    return nil
  }
}
