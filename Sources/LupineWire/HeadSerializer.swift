// A request's head as bytes (RFC 9112 §3, §5); refuses whatever could end a line early.

/// Writes request heads.
public enum HeadSerializer {
  /// Appends the request line, the field lines and the empty line.
  ///
  /// Throws, with nothing appended, if the method or a name isn't a token, the target has anything but visible
  /// ASCII, or a value has a control character (CR, LF and NUL among them) other than HTAB.
  public static func append(_ head: RequestHead, to output: inout [UInt8]) throws(WireError) {
    let start = output.count
    do {
      try write(head, to: &output)
    } catch {
      output.removeLast(output.count - start)
      throw error
    }
  }

  // request-line = method SP request-target SP HTTP-version
  private static func write(_ head: RequestHead, to output: inout [UInt8]) throws(WireError) {
    guard !head.method.isEmpty, head.method.utf8.allSatisfy(CharacterClass.token.contains) else {
      throw .invalidMethod(head.method)
    }
    output.append(contentsOf: head.method.utf8)
    output.append(Byte.space)
    let target = output.count
    output.append(contentsOf: head.target.utf8)
    guard output.count > target else { throw .invalidTarget(byte: Byte.space, offset: 0) }
    for index in target..<output.count where output[index] <= Byte.space || output[index] >= 0x7F {
      throw .invalidTarget(byte: output[index], offset: index - target)
    }
    output.append(contentsOf: " HTTP/1.1\r\n".utf8)
    for line in head.fields.lines { try write(line, of: head.fields, to: &output) }
    output.append(Byte.carriageReturn)
    output.append(Byte.lineFeed)
  }

  private static func write(_ line: Fields.Line, of fields: Fields, to output: inout [UInt8]) throws(WireError) {
    let name = fields.content(line.name)
    guard !name.isEmpty, name.allSatisfy(CharacterClass.token.contains) else {
      throw .invalidRequestFieldName(fields.string(line.name))
    }
    let value = fields.content(line.value)
    if let byte = value.first(where: { !Byte.isFieldContent($0) }) {
      throw .invalidRequestFieldValue(name: fields.string(line.name), byte: byte)
    }
    output.append(contentsOf: name)
    output.append(Byte.colon)
    output.append(Byte.space)
    output.append(contentsOf: value)
    output.append(Byte.carriageReturn)
    output.append(Byte.lineFeed)
  }
}
