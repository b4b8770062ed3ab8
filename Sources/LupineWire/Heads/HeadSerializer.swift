// HeadSerializer: serializes request heads (RFC 9112 §3, §5) and refuses bytes that could end a line early.

/// Serializes request heads, either from a complete `RequestHead` or one line at a time without creating a `Fields`.
public enum HeadSerializer {
  /// Appends the request line, the field lines and the empty line of `head` to `output`.
  ///
  /// - Throws: A `WireError`, with `output` unchanged, if the method or a name isn't a token, the target isn't visible ASCII, or a
  ///   value has a control character (including CR, LF and NUL) other than HTAB.
  public static func append(_ head: RequestHead, to output: inout [UInt8]) throws(WireError) {
    let start = output.count
    do {
      try appendRequestLine(method: head.method, target: head.target, to: &output)
      try appendLines(of: head.fields, to: &output)
      appendEnd(to: &output)
    } catch {
      output.removeLast(output.count - start)
      throw error
    }
  }

  // request-line = method SP request-target SP HTTP-version
  /// Appends the request line to `output`. If the method or target is invalid, throws `WireError.invalidMethod` or
  /// `.invalidTarget`, and `output` may end with an incomplete line.
  package static func appendRequestLine(
    method: String, target: String, to output: inout [UInt8]
  ) throws(WireError) {
    let start = output.count
    output.append(copying: method)
    let methodEnd = output.count
    output.append(Byte.space)
    let targetStart = output.count
    output.append(copying: target)
    let targetEnd = output.count
    output.append(copying: " HTTP/1.1\r\n")
    guard isToken(output.span, start..<methodEnd) else { throw .invalidMethod(method) }
    guard targetEnd > targetStart else { throw .invalidTarget(byte: Byte.space, offset: 0) }
    if let index = firstInvisible(output.span, targetStart..<targetEnd) {
      throw .invalidTarget(byte: output[index], offset: index - targetStart)
    }
  }

  /// Appends a field line to `output`. If the name or value is invalid, throws `WireError.invalidRequestFieldName` or
  /// `.invalidRequestFieldValue`, and `output` may end with an incomplete line.
  package static func appendLine(name: String, value: String, to output: inout [UInt8]) throws(WireError) {
    let start = output.count
    output.append(copying: name)
    guard isToken(output.span, start..<output.count) else { throw .invalidRequestFieldName(name) }
    output.append(Byte.colon)
    output.append(Byte.space)
    let valueStart = output.count
    output.append(copying: value)
    if let byte = firstForbidden(output.span, valueStart..<output.count) {
      throw .invalidRequestFieldValue(name: name, byte: byte)
    }
    appendLineEnd(to: &output)
  }

  /// Appends all field lines of `fields` to `output`, like `appendLine`.
  package static func appendLines(of fields: Fields, to output: inout [UInt8]) throws(WireError) {
    if let range = sentForm(of: fields) { return output.append(copying: fields.bytes.span, range) }
    for position in fields.indices { try appendLine(position, of: fields, to: &output) }
  }

  /// Appends the field line of `fields` at `position` to `output`, with the value's bytes unchanged. If the name or value is
  /// invalid, throws `WireError.invalidRequestFieldName` or `.invalidRequestFieldValue`, and `output` may end with an incomplete
  /// line.
  package static func appendLine(
    _ position: Int, of fields: Fields, to output: inout [UInt8]
  ) throws(WireError) {
    let bytes = fields.bytes.span
    let line = fields.lines[position]
    if let range = sentForm(of: line, bytes) { return output.append(copying: bytes, range) }
    let name = Int(line.name.lowerBound)..<Int(line.name.upperBound)
    guard isToken(bytes, name) else { throw .invalidRequestFieldName(fields.string(line.name)) }
    let value = Int(line.value.lowerBound)..<Int(line.value.upperBound)
    if let byte = firstForbidden(bytes, value) {
      throw .invalidRequestFieldValue(name: fields.string(line.name), byte: byte)
    }
    output.append(copying: bytes, name)
    output.append(Byte.colon)
    output.append(Byte.space)
    output.append(copying: bytes, value)
    appendLineEnd(to: &output)
  }

  /// Appends the empty line that ends the head.
  package static func appendEnd(to output: inout [UInt8]) {
    appendLineEnd(to: &output)
  }

  private static func appendLineEnd(to output: inout [UInt8]) {
    output.append(Byte.carriageReturn)
    output.append(Byte.lineFeed)
  }

  /// Returns the range of all lines if they are valid and stored in the form in which they are sent, without other bytes before or
  /// between them. Otherwise returns nil.
  private static func sentForm(of fields: Fields) -> Range<Int>? {
    let bytes = fields.bytes.span
    var end = 0
    for line in fields.lines {
      guard let range = sentForm(of: line, bytes), range.lowerBound == end else { return nil }
      end = range.upperBound
    }
    return 0..<end
  }

  /// Returns the range of a valid line that is stored in the form in which it is sent, like the lines that callers append. Returns
  /// nil for any other line.
  private static func sentForm(of line: Fields.Line, _ bytes: borrowing Span<UInt8>) -> Range<Int>? {
    let (start, colon) = (Int(line.name.lowerBound), Int(line.name.upperBound))
    let (valueStart, valueEnd) = (Int(line.value.lowerBound), Int(line.value.upperBound))
    // The colon and the CR end the searches, because the former isn't a token character and the latter is a control character.
    guard start < colon, valueStart == colon + 2, valueEnd + 2 <= bytes.count,
      bytes[colon] == Byte.colon, bytes[colon + 1] == Byte.space,
      bytes[valueEnd] == Byte.carriageReturn, bytes[valueEnd + 1] == Byte.lineFeed,
      ByteScan.firstNonToken(in: bytes, from: start) == colon,
      ByteScan.firstControl(in: bytes, from: valueStart) == valueEnd
    else { return nil }
    return start..<valueEnd + 2
  }

  // token = 1*tchar
  private static func isToken(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
    // Searches beyond the range, because eight bytes at a time are faster than the few bytes of a method or a name.
    !range.isEmpty && ByteScan.firstNonToken(in: bytes, from: range.lowerBound) >= range.upperBound
  }

  /// Returns the index of the first byte that isn't visible ASCII, or nil if there is none.
  private static func firstInvisible(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Int? {
    for index in range where bytes[index] <= Byte.space || bytes[index] >= 0x7F { return index }
    return nil
  }

  /// Returns the first byte that a field value can't contain, or nil if there is none.
  private static func firstForbidden(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> UInt8? {
    let value = bytes.extracting(range)
    var index = ByteScan.firstControl(in: value, from: 0)
    while index < value.count {
      guard value[index] == Byte.tab else { return value[index] }
      index = ByteScan.firstControl(in: value, from: index + 1)
    }
    return nil
  }
}
