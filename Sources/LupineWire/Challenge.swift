// What a server or a proxy asks to be shown: WWW-Authenticate and Proxy-Authenticate (RFC 9110 §11.2 to §11.6).

/// One challenge: a scheme of authentication, and what the server says of it.
public struct Challenge: Sendable, Hashable {
  /// One parameter.
  public struct Parameter: Sendable, Hashable {
    /// The name as it was spelled; names have no case.
    public let name: String
    /// The value without its quotes.
    public let value: String

    /// Creates a parameter.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What stands behind the scheme's name.
  public enum Content: Sendable, Hashable {
    /// One word of the scheme's own, often Base64.
    case token68(String)
    /// Parameters in their order; there may be none.
    case parameters([Parameter])
  }

  /// The scheme's name as it was spelled; names have no case.
  public let scheme: String
  /// What stands behind it.
  public private(set) var content: Content

  /// Creates a challenge.
  public init(scheme: String, content: Content = .parameters([])) {
    self.scheme = scheme
    self.content = content
  }

  /// The challenges of one field line, in their order.
  ///
  /// Nothing is refused: what can't be understood is skipped, a missing comma or end quote is let pass, and what is
  /// beyond `Limits.challengesMax` and `Limits.challengeParametersMax` is left out.
  public static func parse(_ value: String) -> [Challenge] {
    var reader = ChallengeReader(Array(value.utf8))
    return reader.challenges(atMost: Limits.challengesMax)
  }

  /// Whether it is of that scheme, in any case.
  public func isOf(scheme other: String) -> Bool { isSameToken(scheme, other) }

  /// The value of the first parameter of that name, in any case; nil if there is none.
  public func parameter(_ name: String) -> String? {
    guard case .parameters(let parameters) = content else { return nil }
    return parameters.first { isSameToken($0.name, name) }?.value
  }

  /// The name of the part of the server that is protected (RFC 9110 §11.5); nil if the server gives none.
  public var realm: String? { parameter("realm") }
}

extension Fields {
  /// The challenges of all lines of that name, in their order, at most `Limits.challengesMax` of them.
  ///
  /// Lines are read one by one, so that an unfinished quoted string ends with its line.
  public func challenges(_ name: String) -> [Challenge] {
    var challenges: [Challenge] = []
    for line in all(name) where challenges.count < Limits.challengesMax {
      var reader = ChallengeReader(Array(line.utf8))
      challenges += reader.challenges(atMost: Limits.challengesMax - challenges.count)
    }
    return challenges
  }
}

/// Reads the bytes of a line from the left to the right; what it looks ahead for, it reads twice at the most.
private struct ChallengeReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // #challenge, with each element's parameters between the same commas as the elements. A token begins a parameter if
  // a "=" follows, and a challenge otherwise.
  mutating func challenges(atMost countMax: Int) -> [Challenge] {
    var challenges: [Challenge] = []
    while let byte = current {
      guard CharacterClass.token.contains(byte) else {
        skipForeign()
        continue
      }
      let name = token()
      if let value = parameterValue() {
        // A parameter in front of every scheme is nobody's.
        if !challenges.isEmpty {
          challenges[challenges.count - 1].append(Challenge.Parameter(name: name, value: value))
        }
        continue
      }
      if challenges.count == countMax { break }
      challenges.append(Challenge(scheme: name, content: token68().map { .token68($0) } ?? .parameters([])))
    }
    return challenges
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Commas, white space, and what has no place here: a quoted string as a whole, anything else byte by byte.
  private mutating func skipForeign() {
    if current == Byte.doubleQuote { _ = quotedString() } else { position += 1 }
  }

  private mutating func skipBlanks() {
    while let byte = current, byte == Byte.space || byte == Byte.tab { position += 1 }
  }

  // token = 1*tchar (§5.6.2)
  private mutating func token() -> String {
    text { CharacterClass.token.contains($0) }
  }

  // auth-param = token BWS "=" BWS ( token / quoted-string ) (§11.2); nil, and nothing is read, without a "=". An
  // unquoted value may have any characters, as in realm=a/b.
  private mutating func parameterValue() -> String? {
    let start = position
    skipBlanks()
    guard current == Byte.equals else {
      position = start
      return nil
    }
    position += 1
    skipBlanks()
    if current == Byte.doubleQuote { return quotedString() }
    return text { $0 != Byte.comma && $0 != Byte.space && $0 != Byte.tab }
  }

  // token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" (§11.2), behind 1*SP; nil, and nothing is
  // read, if more than a comma or the end stands behind it: then it is a parameter or another scheme.
  private mutating func token68() -> String? {
    let start = position
    skipBlanks()
    let hasBlank = position > start
    let first = position
    while let byte = current, CharacterClass.token68.contains(byte) { position += 1 }
    let isEmpty = position == first
    while current == Byte.equals { position += 1 }
    let end = position
    skipBlanks()
    guard hasBlank, !isEmpty, current == nil || current == Byte.comma else {
      position = start
      return nil
    }
    return String(decoding: bytes[first..<end], as: UTF8.self)
  }

  // quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE (§5.6.4); without its end quote it takes the rest.
  private mutating func quotedString() -> String {
    position += 1
    var value: [UInt8] = []
    while let byte = current, byte != Byte.doubleQuote {
      position += 1
      // A quoted-pair stands for its second character; a Byte.backslash at the very end for itself.
      if byte == Byte.backslash, let escaped = current {
        value.append(escaped)
        position += 1
      } else {
        value.append(byte)
      }
    }
    position = min(position + 1, bytes.count)
    return String(decoding: value, as: UTF8.self)
  }

  private mutating func text(while isIncluded: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = current, isIncluded(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }
}

extension Challenge {
  /// Takes one more parameter, unless there are as many as are kept, or a token68.
  fileprivate mutating func append(_ parameter: Parameter) {
    guard case .parameters(let parameters) = content, parameters.count < Limits.challengeParametersMax else { return }
    content = .parameters(parameters + [parameter])
  }
}

/// Whether two names are the same but for the case of ASCII letters.
private func isSameToken(_ left: String, _ right: String) -> Bool {
  left.utf8.elementsEqual(right.utf8) { Byte.lowercased($0) == Byte.lowercased($1) }
}
