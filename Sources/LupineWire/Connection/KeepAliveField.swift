// KeepAliveField: the limits that a server announces for an idle connection (RFC 2068 §19.7.1.1).

/// The limits in a response's Keep-Alive field lines. The field only shortens the life of a connection, and never extends it.
///
/// HTTP/1.1 doesn't define the field any more, but servers such as Apache and Node send it.
struct KeepAliveField {
  /// The lowest valid value of `timeout`: the number of seconds after which the server closes the idle connection. Nil if there is
  /// none.
  private(set) var seconds: UInt64?
  /// Whether the field permits no further request on the connection: `timeout=0` or `max=0`.
  private(set) var refusesReuse = false

  // Keep-Alive = #keepalive-param; keepalive-param = param-name "=" value; value = token / quoted-string
  //
  // White space around "=" is permitted (RFC 2068 §2.1). Unknown parameters, and values that aren't numbers, are ignored.
  mutating func read(_ value: Range<UInt32>, of fields: Fields) {
    fields.forEachElement(of: value) { parameter in
      let bytes = fields.content(parameter)
      guard let equals = bytes.firstIndex(of: Byte.equals) else { return }
      let name = FieldList.trimmed(bytes[..<equals])
      let nameRange = UInt32(name.startIndex)..<UInt32(name.endIndex)
      let isTimeout = fields.matches(nameRange, "timeout")
      guard isTimeout || fields.matches(nameRange, "max") else { return }
      let text = FieldList.trimmed(bytes[(equals + 1)...])
      guard let number = Digits.value(of: FieldList.unquoted(text).map { $0[...] } ?? text) else { return }
      if number == 0 { refusesReuse = true }
      if isTimeout { seconds = min(seconds ?? number, number) }
    }
  }
}
