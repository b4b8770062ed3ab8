// RequestShape: the parts of a request that mutations change, and its serialization.

/// The parts of an HTTP/1.1 request, which the fuzzer changes. The request may be malformed.
struct RequestShape {
  struct Line {
    var name: String
    var separator = ": "
    var value: String
  }

  /// The bytes to send before the request line.
  var front: [UInt8] = []
  var method: String
  var target: String
  var version = "HTTP/1.1"
  /// The text between the method, the target and the version in the request line.
  var space = " "
  var lines: [Line]
  var lineEnd = "\r\n"
  var body: [UInt8] = []
  /// The bytes to send after the body.
  var behind: [UInt8] = []

  /// The serialized request. Each Unicode scalar of the texts becomes one byte, so the scalars must be below U+0100.
  var bytes: [UInt8] {
    var text = method + space + target
    if !version.isEmpty { text += space + version }
    text += lineEnd
    for line in lines { text += line.name + line.separator + line.value + lineEnd }
    text += lineEnd
    return front + text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + body + behind
  }

  /// Returns the value of the request's first field line with this name, ignoring case. Returns nil if there is no such line.
  func first(_ name: String) -> String? {
    lines.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  mutating func remove(_ name: String) {
    lines.removeAll { $0.name.lowercased() == name.lowercased() }
  }

  mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  mutating func add(_ name: String, _ value: String) { lines.append(Line(name: name, value: value)) }
}

/// A request that the fuzzer sends: its bytes, and the names of its mutations.
struct MutatedRequest {
  /// The request's number in the run, from 1. 0 is the request without mutations.
  let number: Int
  let bytes: [UInt8]
  /// The names of the request's mutations, in the order in which they were applied. Empty for the unmodified request.
  let mutations: [String]
  /// Whether a server may wait for more bytes of the request instead of responding.
  let mayBeUnfinished: Bool

  /// Whether a server may treat the request as HTTP/0.9, whose responses have no head.
  var looksLike09: Bool {
    let line = bytes.drop { $0 == 13 || $0 == 10 }.prefix { $0 != 10 && $0 != 13 }
    return !String(decoding: line, as: UTF8.self).uppercased().contains("HTTP/")
  }

  /// Whether the request contains HEAD near its start. If a server parses it as a HEAD request, its response lacks the body that
  /// Content-Length announces.
  var mayBeHead: Bool { String(decoding: bytes.prefix(64), as: UTF8.self).uppercased().contains("HEAD") }
}

extension MutatedRequest {
  /// Creates a request that may be unfinished if a mutation leaves it open, or if the bytes don't look complete.
  init(number: Int, bytes: [UInt8], mutations: [String], leavesOpen: Bool = false) {
    self.init(
      number: number, bytes: bytes, mutations: mutations, mayBeUnfinished: leavesOpen || !Self.isWhole(bytes))
  }

  /// Returns whether the bytes are a complete request for a strict parser: a head that ends with an empty line, and a body that is
  /// as long as Content-Length states. Returns false if this is uncertain.
  static func isWhole(_ bytes: [UInt8]) -> Bool {
    // Servers skip empty lines before a request (RFC 9112 §2.2).
    let request = bytes.drop { $0 == 13 || $0 == 10 }
    guard let headEnd = request.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return false }
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
}
