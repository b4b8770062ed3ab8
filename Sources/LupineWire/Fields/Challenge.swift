// Challenge: parses WWW-Authenticate and Proxy-Authenticate fields (RFC 9110 §11.2 to §11.6).

/// One authentication challenge of a server or proxy: a scheme with a token68 or parameters.
public struct Challenge: Sendable, Hashable {
  /// One parameter of a challenge, such as `realm="files"`.
  public struct Parameter: Sendable, Hashable {
    /// The parameter's name as received. Names are case-insensitive.
    public let name: String
    /// The parameter's value. If it was a quoted string, without the quotation marks and backslashes.
    public let value: String

    /// Creates a parameter from its name and its unquoted value.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The part of a challenge after the scheme's name.
  public enum Content: Sendable, Hashable {
    /// A single token68, often Base64. The authentication scheme defines the meaning of its text.
    case token68(String)
    /// The parameters of the challenge, in their order. The array may be empty.
    case parameters([Parameter])
  }

  /// The name of the authentication scheme as received, such as `Digest`. Names are case-insensitive.
  public let scheme: String
  /// The part of the challenge after the scheme: a token68 or parameters.
  public private(set) var content: Content

  /// Creates a challenge from its scheme and its token68 or parameters.
  public init(scheme: String, content: Content = .parameters([])) {
    self.scheme = scheme
    self.content = content
  }

  /// Parses the value of a WWW-Authenticate or Proxy-Authenticate field line and returns its challenges in their order.
  ///
  /// Parsing never fails. It skips unknown text, and tolerates a missing comma or closing quotation mark. Challenges beyond
  /// `Limits.challengesMax` and parameters beyond `Limits.challengeParametersMax` are dropped.
  public static func parse(_ value: String) -> [Challenge] {
    var reader = ChallengeReader(Array(value.utf8))
    return reader.challenges(atMost: Limits.challengesMax)
  }

  /// Returns whether the challenge uses this scheme, ignoring case.
  public func isOf(scheme other: String) -> Bool { scheme.isSameFieldName(as: other) }

  /// Returns the value of the challenge's first parameter with this name, ignoring case, or nil if there is none.
  public func parameter(_ name: String) -> String? {
    guard case .parameters(let parameters) = content else { return nil }
    return parameters.first { $0.name.isSameFieldName(as: name) }?.value
  }

  /// The challenge's realm, which names the protected part of the server (RFC 9110 §11.5). Nil if the challenge has no realm.
  public var realm: String? { parameter("realm") }
}

extension Fields {
  /// Parses all field lines with this name, and returns their challenges in their order, at most `Limits.challengesMax`.
  ///
  /// Lines are parsed separately, so an unterminated quoted string ends with its line.
  public func challenges(_ name: String) -> [Challenge] {
    var challenges: [Challenge] = []
    for line in all(name) where challenges.count < Limits.challengesMax {
      var reader = ChallengeReader(Array(line.utf8))
      challenges += reader.challenges(atMost: Limits.challengesMax - challenges.count)
    }
    return challenges
  }
}

/// Parses the challenges in the bytes of a field line from left to right. No byte is read more than twice, even with lookahead.
private struct ChallengeReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // #challenge. The commas of the list also separate each challenge's parameters, so a token with "=" after it is a
  // parameter, and any other token starts a challenge.
  mutating func challenges(atMost countMax: Int) -> [Challenge] {
    var challenges: [Challenge] = []
    while let byte = current {
      guard CharacterClass.token.contains(byte) else {
        skipForeign()
        continue
      }
      let name = token()
      if let value = parameterValue() {
        // A parameter before the first scheme belongs to no challenge and is dropped.
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

  /// Skips commas, white space and text that isn't part of a challenge. Skips a quoted string in one step, and any other text byte
  /// by byte.
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

  // auth-param = token BWS "=" BWS ( token / quoted-string ) (§11.2). Returns nil and consumes nothing if there is no
  // "=". An unquoted value may have any character except comma and blank, as in realm=a/b.
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

  // token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" (§11.2), after 1*SP. If neither a comma nor the end
  // of the line follows, the text is a parameter or another scheme: returns nil and consumes nothing.
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

  // A quoted-string (§5.6.4). Without a closing quotation mark, it extends to the end of the line.
  private mutating func quotedString() -> String {
    var rest = bytes[position...]
    let value = FieldList.takeQuoted(&rest).content
    position = rest.startIndex
    return String(decoding: value, as: UTF8.self)
  }

  private mutating func text(while isIncluded: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = current, isIncluded(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }
}

extension Challenge {
  /// Appends a parameter, unless the challenge has a token68 or already has `Limits.challengeParametersMax` parameters.
  fileprivate mutating func append(_ parameter: Parameter) {
    guard case .parameters(let parameters) = content, parameters.count < Limits.challengeParametersMax else { return }
    content = .parameters(parameters + [parameter])
  }
}

/// Lists the names of authentication schemes for an error message. The list is limited, so that it fits in one line of text.
package enum AuthenticationSchemes {
  /// The maximum number of scheme names in the list: 8.
  static let countMax = 8
  /// The maximum length of a scheme name in bytes: 32. Longer names are omitted. SCRAM-SHA-256, the longest name that IANA has
  /// registered, has 13 bytes.
  static let nameBytesMax = 32

  /// Returns the names of the challenges' schemes in the order of the challenges, without duplicates.
  package static func names(_ challenges: [Challenge]) -> [String] {
    var names: [String] = []
    for challenge in challenges where challenge.scheme.utf8.count <= nameBytesMax {
      if names.count < countMax, !names.contains(challenge.scheme) { names.append(challenge.scheme) }
    }
    return names
  }
}
