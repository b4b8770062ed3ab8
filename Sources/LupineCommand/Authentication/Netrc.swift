// Netrc: the logins of a netrc file, by curl's rules for its syntax. It does no I/O.

import LupineAuthentication

/// The logins in a netrc file, in the order of the file.
///
/// A netrc file is a sequence of tokens, which white space separates. At the start of a line, or in place of a keyword, "#" begins
/// a comment, which ends with the line. A quoted token may contain white space, and the escapes \n, \r, \t, and a backslash before
/// any other character. After `macdef`, everything is skipped up to an empty line.
struct Netrc: Equatable, Sendable {
  /// The maximum length of a netrc file in bytes: 128 KiB, as in curl.
  static let fileBytesMax = 128 * 1024
  /// The maximum length in bytes of a token in a netrc file: 4 KiB, as in curl.
  static let tokenBytesMax = 4_096

  /// The reason why a netrc file can't be used. `line` is the number of the line with the error.
  enum Defect: Error, Equatable {
    case fileIsTooLong
    case tokenIsTooLong(line: Int)
    case quoteIsOpen(line: Int)
    case notUTF8(line: Int)
  }

  /// One login in the netrc file: a host, a user name and a password.
  private struct Entry: Equatable {
    /// The host for which the login is meant, or nil for all hosts (`default`).
    let host: String?
    var user: String?
    var password: String?
  }

  private var entries: [Entry] = []

  /// Parses a netrc file. Ignores the case of keywords, and skips unknown words.
  init(_ bytes: [UInt8]) throws(Defect) {
    guard bytes.count <= Self.fileBytesMax else { throw .fileIsTooLong }
    var reader = NetrcReader(bytes)
    while let word = try reader.token(isKeyword: true) {
      switch word.lowercased() {
      case "machine": if let host = try reader.token() { entries.append(Entry(host: host)) }
      case "default": entries.append(Entry(host: nil))
      case "login": if let user = try reader.token() { add(user: user) }
      case "password": if let password = try reader.token() { add(password: password) }
      case "account": _ = try reader.token()
      case "macdef": reader.skipMacro()
      default: break
      }
    }
  }

  /// Returns the first login in the netrc file for a host. It belongs to an entry with the host's name, ignoring case, or to a
  /// `default` entry. Logins with a password take precedence over logins without one.
  ///
  /// - Parameters:
  ///   - host: The host without brackets.
  ///   - user: The user name that the login must have, or nil for any.
  ///   - allowsDefault: Whether the login of a `default` entry may be returned. True by default.
  func login(for host: String, user: String? = nil, allowsDefault: Bool = true) -> PasswordCredential? {
    let found = entries.filter { entry in
      guard entry.host.map({ $0.lowercased() == host.lowercased() }) ?? allowsDefault else { return false }
      return user.map { $0 == entry.user } ?? (entry.user != nil || entry.password != nil)
    }
    let entry = found.first { $0.password != nil } ?? found.first
    return entry.map { PasswordCredential(user: $0.user ?? "", password: $0.password ?? "") }
  }

  private var last: Int { entries.count - 1 }

  /// Adds a password to the login that was parsed last, unless this login already has a password.
  private mutating func add(password: String) {
    guard let entry = entries.last, entry.password == nil else { return }
    entries[last].password = password
  }

  /// Adds a user name to the login that was parsed last. If this login already has a user name and a password, begins another login
  /// for the same host.
  private mutating func add(user: String) {
    guard let entry = entries.last else { return }
    if entry.user == nil || entry.password == nil {
      entries[last].user = user
    } else {
      entries.append(Entry(host: entry.host, user: user))
    }
  }
}

/// Splits a netrc file into tokens.
private struct NetrcReader {
  private var rest: ArraySlice<UInt8>
  private var line = 1
  /// Whether the reader has read only white space since the start of the line.
  private var isAtLineStart = true

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Returns the next token of the netrc file, or nil at its end. If `isKeyword` is true, the token must be a keyword, and a "#" in
  /// its place begins a comment. If `isKeyword` is false, the token may begin with "#", except at the start of a line.
  mutating func token(isKeyword: Bool = false) throws(Netrc.Defect) -> String? {
    skipSpace(hasComments: isKeyword)
    guard let first = rest.first else { return nil }
    isAtLineStart = false
    let start = line
    var bytes: [UInt8] = []
    if first == UInt8(ascii: "\"") {
      rest.removeFirst()
      bytes = try quoted()
    } else {
      bytes = Array(rest.prefix { !Self.isSpace($0) })
      rest = rest.dropFirst(bytes.count)
    }
    guard bytes.count <= Netrc.tokenBytesMax else { throw .tokenIsTooLong(line: start) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8(line: start) }
    return text
  }

  /// Skips a `macdef` macro: the rest of the line with the macro's name, and all lines up to an empty line.
  mutating func skipMacro() {
    skipLine()
    while !rest.isEmpty {
      let isLast = rest.prefix { $0 != UInt8(ascii: "\n") }.allSatisfy { Self.isSpace($0) }
      skipLine()
      if isLast { return }
    }
  }

  /// Skips white space and comments. Comments begin at the start of a line and, if `hasComments` is true, also within a line.
  private mutating func skipSpace(hasComments: Bool) {
    while let byte = rest.first {
      if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "#") && (isAtLineStart || hasComments)) {
        skipLine()
      } else if Self.isSpace(byte) {
        rest.removeFirst()
      } else {
        return
      }
    }
  }

  private mutating func skipLine() {
    rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
    line += 1
    isAtLineStart = true
  }

  /// Reads a quoted token up to the closing quotation mark, and returns its bytes without the escapes.
  private mutating func quoted() throws(Netrc.Defect) -> [UInt8] {
    let start = line
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return bytes
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { throw .quoteIsOpen(line: start) }
        bytes.append(Self.character(escaped))
      default: bytes.append(byte)
      }
      if byte == UInt8(ascii: "\n") { line += 1 }
      guard bytes.count <= Netrc.tokenBytesMax else { throw .tokenIsTooLong(line: start) }
    }
    throw .quoteIsOpen(line: start)
  }

  private static func character(_ escaped: UInt8) -> UInt8 {
    switch escaped {
    case UInt8(ascii: "n"): UInt8(ascii: "\n")
    case UInt8(ascii: "r"): UInt8(ascii: "\r")
    case UInt8(ascii: "t"): UInt8(ascii: "\t")
    default: escaped
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
