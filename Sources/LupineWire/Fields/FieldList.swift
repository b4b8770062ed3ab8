// FieldList: splits list-based field values into their members (RFC 9110 §5.6.1).

/// Splits list-based field values into their members, and classifies characters of field values.
package enum FieldList {
  /// Returns the members of the comma-separated list in one field line, without surrounding white space and without empty members.
  /// A comma within a quoted string doesn't separate members.
  ///
  /// A quotation mark that starts no complete quoted string is treated as an ordinary character, so that it hides no member.
  package static func members(of value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var members: [ArraySlice<UInt8>] = []
    forEachMember(of: value) { members.append($0) }
    return members
  }

  /// Calls `body` with each of the members that `members(of:)` returns.
  package static func forEachMember(of value: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    // #element => [ element ] *( OWS "," OWS [ element ] )
    var start = value.startIndex
    var index = start
    // If one quoted string has no end, no later one has an end either, so the line is searched only once.
    var hasClosingQuote = true
    while index < value.endIndex {
      switch value[index] {
      case Byte.comma:
        visit(trimmed(value[start..<index]), body)
        start = index + 1
      case Byte.doubleQuote where hasClosingQuote:
        if let end = endOfQuotedString(value[index...]) { index = end - 1 } else { hasClosingQuote = false }
      default: break
      }
      index += 1
    }
    visit(trimmed(value[start...]), body)
  }

  private static func visit(_ member: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
    if !member.isEmpty { body(member) }
  }

  /// Returns the index after the closing quotation mark of the quoted string at the start of `text`, or nil if there is no closing
  /// quotation mark.
  private static func endOfQuotedString(_ text: ArraySlice<UInt8>) -> Int? {
    // quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE
    var index = text.startIndex + 1
    while index < text.endIndex {
      switch text[index] {
      case Byte.doubleQuote: return index + 1
      case Byte.backslash: index += 2
      default: index += 1
      }
    }
    return nil
  }

  /// Returns the content of a quoted string without its quotation marks and backslashes, or nil if `text` isn't exactly one quoted
  /// string.
  package static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.first == Byte.doubleQuote else { return nil }
    var rest = text
    let (content, isClosed) = takeQuoted(&rest)
    return isClosed && rest.isEmpty ? content : nil
  }

  /// Removes the quoted string at the start of `rest`, which begins with a quotation mark. Returns its content, and whether it has a
  /// closing quotation mark. Without one, the string extends to the end of `rest`, and a backslash at its end is literal.
  package static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> (content: [UInt8], isClosed: Bool) {
    // quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE
    var content: [UInt8] = []
    rest.removeFirst()
    while let byte = rest.popFirst() {
      if byte == Byte.doubleQuote { return (content, true) }
      // A quoted-pair means its second character.
      content.append(byte == Byte.backslash ? rest.popFirst() ?? byte : byte)
    }
    return (content, false)
  }

  /// Returns the bytes without the spaces and tabs at both ends.
  package static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let byte = text.first, isBlank(byte) { text.removeFirst() }
    while let byte = text.last, isBlank(byte) { text.removeLast() }
    return text
  }

  /// Returns whether the byte may occur in optional white space: SP or HTAB (RFC 9110 §5.6.3).
  package static func isBlank(_ byte: UInt8) -> Bool { byte == Byte.space || byte == Byte.tab }

  /// Returns whether the bytes form a token (RFC 9110 §5.6.2).
  package static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
    !text.isEmpty && text.allSatisfy(CharacterClass.token.contains)
  }

  /// Returns the longest part at the start of `text` that is a token, or an empty part.
  package static func token(startOf text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    text.prefix(while: CharacterClass.token.contains)
  }

  /// Returns whether the bytes equal `name`, ignoring ASCII case. `name` must be lowercase ASCII.
  @inline(__always)
  package static func matches(_ text: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
    ByteScan.matches(text.span, name)
  }

  /// Returns the bytes as text, with ASCII letters in lowercase.
  package static func lowercased(_ text: ArraySlice<UInt8>) -> String {
    String(decoding: text.map(Byte.lowercased), as: UTF8.self)
  }
}
