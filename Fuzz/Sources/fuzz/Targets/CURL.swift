// The curl command that describes a request: split into words here by bash's rules, and by bash itself.

import Foundation
import Glibc
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the curl command that describes a request. The input contains choices, a method, a URL, a body, and names and values of
  /// fields.
  static let curl = FuzzTarget(
    name: "curl", summary: "bash splits a request's curl command into the request's parts"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    // A NUL can't occur in a program's arguments, in a method or in a field.
    let method = input.text().filter { $0 != "\0" }
    guard let url = URL(string: "http://a.test/" + input.text()), !method.contains("\0") else { return }
    var request = URLRequest(url: url)
    request.httpMethod = method.isEmpty ? "GET" : method
    let body = input.bytes()
    if choices & 1 != 0 { request.httpBody = Data(body) }
    var fields = HTTPHeaders()
    while !input.isAtEnd {
      let (name, value) = (input.text(), input.text())
      guard !name.utf8.contains(0), !value.utf8.contains(0) else { return }
      fields.add(name: name, value: value)
    }
    request.headers = fields
    let command = cURLDescription(of: request, configuration: ["X-Session": "s"])
    guard let words = ShellWords(command) else { return hold(false, "bash would do more than split: \(command)") }
    let expected = arguments(of: request, url)
    hold(words.all == expected, "\(words.all.map(shown)), not \(expected.map(shown)): \(command)")
    if !words.hasSubstitution { hold(Bash.shared.words(of: command) == expected, "bash differs: \(command)") }
  }

  private static func arguments(of request: Lupine.URLRequest, _ url: URL) -> [[UInt8]] {
    let method = request.httpMethod ?? "GET"
    let body = request.httpBody ?? Data()
    var words = ["-v", "-X", method].map { Array($0.utf8) }
    if method == "HEAD", body.isEmpty { words.append(Array("--head".utf8)) }
    var headers: HTTPHeaders = ["X-Session": "s"]
    for header in request.headers { headers.update(header) }
    // curl would read a file for a header argument that begins with an @.
    for header in headers where header.name.utf8.first != 0x40 {
      let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
      words += [Array("-H".utf8), Array(line.utf8)]
    }
    if !body.isEmpty {
      let isText = String(validating: body, as: UTF8.self) != nil
      let option =
        body.contains(0) ? "--data-binary" : body.first == 0x40 ? "--data-raw" : isText ? "-d" : "--data-binary"
      words += [Array(option.utf8), body.contains(0) ? Array("@".utf8) + body : [UInt8](body)]
    }
    let text = url.absoluteString
    if text.contains(where: { "[]{}".contains($0) }) { words.append(Array("--globoff".utf8)) }
    return words + [Array(text.utf8)]
  }
}

/// The words of a curl command, split by bash's rules. The initializer returns nil if bash would do more than split the command,
/// such as expand a variable.
private struct ShellWords {
  private(set) var all: [[UInt8]] = []
  private(set) var hasSubstitution = false
  private var rest: ArraySlice<UInt8>
  private var word: [UInt8]?

  init?(_ command: String) {
    rest = Array(command.utf8)[...]
    guard skip("$ curl ") else { return nil }
    while !rest.isEmpty {
      if skip(" ") || skip("\t") || skip("\\\n") {
        if let word { all.append(word) }
        word = nil
      } else {
        guard let part = segment() else { return nil }
        word = (word ?? []) + part
      }
    }
    if let word { all.append(word) }
  }

  private mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func segment() -> [UInt8]? {
    if skip("\"") { return doubleQuoted() }
    if skip("$'") { return escaped(digits: 2, radix: 16, mark: "\\x") }
    if skip("@<(printf '") {
      hasSubstitution = true
      guard let body = escaped(digits: 3, radix: 8, mark: "\\"), skip(")") else { return nil }
      return [UInt8(ascii: "@")] + body
    }
    if skip("\\!") { return [UInt8(ascii: "!")] }
    let plain = rest.prefix { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || $0 == UInt8(ascii: "-") }
    rest = rest.dropFirst(plain.count)
    return plain.isEmpty ? nil : Array(plain)
  }

  private mutating func doubleQuoted() -> [UInt8]? {
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst(), "\"\\$`".utf8.contains(next) else { return nil }
        text.append(next)
      // An expansion, or a reference to the history of an interactive shell.
      case UInt8(ascii: "$"), UInt8(ascii: "`"), UInt8(ascii: "!"): return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  /// Parses the rest of a quoted text up to the single quote at its end. In the text, each `mark` is followed by a number with the
  /// given number of digits, which is the value of a byte.
  private mutating func escaped(digits: Int, radix: Int, mark: String) -> [UInt8]? {
    var text: [UInt8] = []
    while !rest.isEmpty {
      if skip("'") { return text }
      if skip(mark) {
        guard let value = UInt8(String(decoding: rest.prefix(digits), as: UTF8.self), radix: radix) else { return nil }
        rest = rest.dropFirst(digits)
        text.append(value)
      } else if let byte = rest.popFirst(), byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "%"), byte >= 0x20 {
        text.append(byte)
      }
    }
    return nil
  }
}

/// A bash process that runs as long as this program. In it, `curl` is a function that prints its arguments. The process receives
/// only commands that `ShellWords` accepts.
private final class Bash: Sendable {
  static let shared = Bash()

  private let input: FileHandle
  private let output: FileHandle

  private init() {
    let bash = Process()
    bash.executableURL = URL(filePath: "/bin/bash")
    bash.arguments = ["--norc", "--noprofile", "-s"]
    bash.environment = ["LC_ALL": "C", "PATH": ""]
    let (input, output) = (Pipe(), Pipe())
    (bash.standardInput, bash.standardOutput) = (input, output)
    do { try bash.run() } catch { fatalError("there is no /bin/bash: \(error)") }
    (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
    write("curl() { printf '%s\\0' \"$#\" \"$@\"; }\n")
  }

  func words(of command: String) -> [[UInt8]] {
    write(command.dropFirst("$ ".count) + "\n")
    var read: [UInt8] = []
    while true {
      let words = read.split(separator: 0, omittingEmptySubsequences: false)
      if words.count > 1, let count = Int(String(decoding: words[0], as: UTF8.self)), words.count == count + 2 {
        return words.dropFirst().dropLast().map(Array.init)
      }
      read += piece()
    }
  }

  // Uses system calls, because FileHandle traps when the fuzzer's alarm interrupts it.
  private func write(_ text: String) {
    var rest = Array(text.utf8)
    while !rest.isEmpty {
      let count = Glibc.write(input.fileDescriptor, rest, rest.count)
      guard count >= 0 || errno == EINTR else { fatalError("bash takes nothing: errno \(errno)") }
      rest.removeFirst(max(count, 0))
    }
  }

  private func piece() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(output.fileDescriptor, &buffer, buffer.count)
      if count > 0 { return Array(buffer[..<count]) }
      guard count < 0, errno == EINTR else { fatalError("bash has ended: errno \(errno)") }
    }
  }
}
